import { expectTypeOf, it } from 'vitest'
import type { Answer, AnswerOf, BodyOf, Member, PolicyListItem, TransferPreview } from './answer.ts'
import type { Client } from './app.ts'

// These tests check types. A wrong type fails `npm run typecheck`, not the test run.

type Preview = BodyOf<'post', `/vaults/${string}/transfers/preview`>

it('the body of an answer has the type that openapi.json documents for its URL', () => {
  expectTypeOf<BodyOf<'get', '/vaults/main/members?limit=1'>['items']>().toEqualTypeOf<Member[]>()
  expectTypeOf<BodyOf<'get', `/vaults/${string}/policies`>['items']>().toEqualTypeOf<PolicyListItem[]>()
  expectTypeOf<Preview>().toExtend<TransferPreview>()
  expectTypeOf<BodyOf<'get', '//healthz'>['status']>().toEqualTypeOf<'ok'>()
})

it('the body has the fields of an error, except where the documented answer has a field of the same name', () => {
  expectTypeOf<Preview['message']>().toEqualTypeOf<string>()
  expectTypeOf<Preview['code']>().toEqualTypeOf<string | number>()
  expectTypeOf<BodyOf<'get', '/vaults/main'>['code']>().toEqualTypeOf<string>()
  expectTypeOf<keyof Answer['body']>().toEqualTypeOf<
    'error' | 'message' | 'code' | 'reason' | 'details' | 'requestId'
  >()
})

it('the body has no field that is misspelt, or of another operation', () => {
  type Transfer = AnswerOf<'post', '/vaults/main/transfers'>['body']
  const fieldOf = <Body>(name: keyof Body) => name
  fieldOf<Transfer>('initiatorId')
  // @ts-expect-error: it is called `initiatorId`.
  fieldOf<Transfer>('initiatorID')
  // @ts-expect-error: `nextCursor` is of the list of transfers.
  fieldOf<Transfer>('nextCursor')
  // @ts-expect-error: there is no such operation, so that nothing but the error is known.
  fieldOf<BodyOf<'get', '/vaults/main/transfer'>>('items')
})

it('a client infers the type of its answer, also through a generic helper', () => {
  const keyOf = <Url extends `/vaults/${string}`>(client: Client, url: Url) => client.get(url)
  expectTypeOf(keyOf<'/vaults/main/members'>).returns.resolves.toEqualTypeOf<AnswerOf<'get', '/vaults/v/members'>>()
  // A URL whose type was widened to `string` is the URL of no operation.
  expectTypeOf<AnswerOf<'get', string>>().toEqualTypeOf<Answer>()
  expectTypeOf<BodyOf<'get', '//sign-in'>>().toEqualTypeOf<string>()
})
