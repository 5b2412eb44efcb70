import { Ajv, type ValidateFunction } from 'ajv'
import Type, { type Static, type TSchema } from 'typebox'
import type { Answer } from './http-exchange.ts'
import { Violation } from './outcomes.ts'

/** The answers of the protocol. Members that it does not name are allowed, because a later version may have more. */

const Amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' })
const Visible = Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$' })
const Timestamp = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z$' })
const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An output of a transaction, where transactions spend outputs. */
const outpoint = { txHash: Visible, index: Type.Integer({ minimum: 0 }) }

export const DerivedAddress = Type.Object({ address: Visible })

export const TransferState = Type.Object({
  id: Visible,
  status: Type.Union([
    Type.Literal('queued'),
    Type.Literal('broadcast'),
    Type.Literal('confirmed'),
    Type.Literal('failed'),
  ]),
  txHash: OrNull(Visible),
  fee: OrNull(Amount),
  feePaidBy: OrNull(Visible),
  confirmations: Type.Integer({ minimum: 0 }),
  blockTime: OrNull(Timestamp),
  failureReason: OrNull(Type.String({ minLength: 1, maxLength: 4_000 })),
  network: Visible,
  fromAddress: Visible,
  toAddress: Visible,
  contractAddress: OrNull(Visible),
  amount: Amount,
  anchor: Type.Optional(OrNull(Type.Object(outpoint))),
})
export type TransferState = Static<typeof TransferState>

export const TransferStates = Type.Object({ transfers: Type.Array(TransferState, { maxItems: 100 }) })

export const TransactionState = Type.Object({
  hash: Visible,
  status: Type.Union([Type.Literal('pending'), Type.Literal('mined'), Type.Literal('failed')]),
  from: OrNull(Visible),
  nonce: OrNull(Type.Integer({ minimum: 0 })),
  confirmations: Type.Integer({ minimum: 0 }),
  blockTime: OrNull(Timestamp),
  fee: OrNull(Amount),
  payments: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      fromAddress: OrNull(Visible),
      toAddress: Visible,
      contractAddress: OrNull(Visible),
      amount: Amount,
    }),
  ),
  spent: Type.Optional(
    Type.Array(Type.Object({ ...outpoint, address: OrNull(Visible), amount: Amount }), { maxItems: 1_000 }),
  ),
})
export type TransactionState = Static<typeof TransactionState>

export const Balance = Type.Object({ balance: Amount, blockNumber: Type.Integer({ minimum: 0 }) })
export const FeeEstimate = Type.Object({ fee: Amount, asset: Type.Literal('native') })

export const Health = Type.Object({
  status: Type.Literal('ok'),
  networks: Type.Array(
    Type.Object({
      network: Visible,
      reachable: Type.Boolean(),
      headBlock: OrNull(Type.Integer({ minimum: 0 })),
      nextBlock: OrNull(Type.Integer({ minimum: 0 })),
    }),
  ),
})

export const ErrorBody = Type.Object({
  error: Type.String({ minLength: 1 }),
  message: Type.String({ minLength: 1 }),
  code: Type.Integer(),
})

export const FieldFaults = Type.Object({
  details: Type.Array(Type.Object({ field: Type.String(), message: Type.String({ minLength: 1 }) }), { minItems: 1 }),
})

export const DepositEvent = Type.Object({
  kind: Type.Literal('TOPUP'),
  id: Visible,
  tx: Type.Object({
    network: Visible,
    asset: OrNull(Visible),
    amount: Type.String({ pattern: '^(0|[1-9]\\d*)(\\.\\d+)?$' }),
    toAddress: Visible,
    txHash: Visible,
    index: Type.Integer({ minimum: 0 }),
    fromAddress: Type.Optional(OrNull(Visible)),
    blockTime: Type.Optional(OrNull(Timestamp)),
  }),
})
export type DepositEvent = Static<typeof DepositEvent>

const ajv = new Ajv({ strict: false, allErrors: true })
const compiled = new WeakMap<TSchema, ValidateFunction>()

/** The faults of a value as one sentence, or null when it has the form. */
export function faultsOf(schema: TSchema, value: unknown): string | null {
  let validate = compiled.get(schema)
  if (validate === undefined) {
    validate = ajv.compile(schema)
    compiled.set(schema, validate)
  }
  return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: 'the body' })
}

/** @returns the body, which has the status and the form */
export function expectAnswer<const S extends TSchema>(answer: Answer, status: number, schema: S): Static<S> {
  expectStatus(answer, status)
  const faults = faultsOf(schema, answer.json)
  if (faults !== null) throw new Violation(faults, [answer.exchange])
  return answer.json as Static<S>
}

/** `what` says which request it was, when the check makes several. */
export function expectStatus(answer: Answer, expected: number | number[], what?: string): void {
  const statuses = [expected].flat()
  if (statuses.includes(answer.status)) return
  const got = answer.status === 0 ? 'there was no answer' : `answered ${answer.status}`
  const prefix = what === undefined ? '' : `${what}: `
  throw new Violation(`${prefix}${got}, expected ${statuses.join(' or ')}`, [answer.exchange])
}

/** @throws Violation with the last exchange, when it is not so */
export function expectThat(isSo: boolean, message: string, ...answers: Answer[]): asserts isSo {
  if (isSo) return
  throw new Violation(
    message,
    answers.map(({ exchange }) => exchange),
  )
}

/** The text of a member, for checks that need no more of an answer than this; undefined when it is something else. */
export function textOf(answer: Answer, member: string): string | undefined {
  const { json } = answer
  const value = typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[member] : undefined
  return typeof value === 'string' ? value : undefined
}
