import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

type Holder = { person: Person; operations: { type: string; id: string }[] }

const path = '/vaults/main-vault/operation-relations'
const types = ['refund', 'reversal', 'correction', 'replacement']

/** A member with deposits and transfers of their own, one of which waits for the approvers. */
async function holder(email: string): Promise<Holder> {
  const person = await addMember(bench.test, bench.vault, email, ['treasury'])
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' }, person)
  const operations = []
  for (const amount of ['100', '20', '3']) {
    const { body } = await deposit(bench.test, { address: address.address, asset: usdtContract, amount })
    operations.push({ type: 'deposit', id: body.depositId })
  }
  for (const amount of ['1', '2', '200']) {
    const { body } = await bench.order(address.id, amount, {}, person)
    operations.push({ type: 'transfer', id: body.id })
  }
  return { person, operations }
}

async function relate(by: Person, source: object, target: object, relationType: string) {
  const named = (end: string, { type, id }: { type?: string; id?: string }) => ({
    [`${end}OperationType`]: type,
    [`${end}OperationId`]: id,
  })
  return by.post(path, { ...named('source', source), ...named('target', target), relationType, relatedAmountRaw: '1' })
}

/** Two equal errors differ in the id of their request. */
const withoutId = (body: object): object => ({ ...body, requestId: undefined })

/** Every answer to a member about relations, as text: pages and their cursors, single operations and refusals. */
async function answersTo({ person, operations }: Holder, others: Holder[], outsiders: string[]): Promise<string[]> {
  const answers: [string, number, unknown][] = []
  const note = <Body extends object>(url: string, { status, body }: Answer<Body>) => {
    answers.push([url, status, withoutId(body)])
    return body
  }
  const ask = async (url: `${typeof path}?${string}`) => note(url, await person.get(url))
  for (const limit of [1, 2, 100]) {
    for (let cursor = ''; ; ) {
      const body = await ask(`${path}?limit=${limit}${cursor}`)
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
  }
  for (const type of types) await ask(`${path}?relationType=${type}`)
  await ask(`${path}?tokenId=${bench.vault.tokens.usdt.id}`)
  await ask(`${path}?from=2026-01-01&to=2999-01-01`)
  for (const { type, id } of [...operations, ...others.flatMap((other) => other.operations)]) {
    await ask(`${path}?sourceOperationId=${id}`)
    await ask(`${path}?targetOperationId=${id}`)
    const url = `/vaults/main-vault/operations/${type}/${id}/relations` as const
    note(url, await person.get(url))
  }
  for (const id of outsiders) note(`${path}/${id}`, await person.delete(`${path}/${id}`))
  return answers.map((answer) => JSON.stringify(answer))
}

it('T40 relations among the operations of others change no answer to a member', async () => {
  const member = await holder('member@example.org')
  const others = [await holder('first.other@example.org'), await holder('second.other@example.org')]
  const { admin } = bench.vault
  const [a, b, c, d] = member.operations
  const ownAnswers = []
  for (const [source, target, type] of [
    [d, a, 'refund'],
    [b, a, 'reversal'],
    [c, b, 'correction'],
    [a, c, 'replacement'],
  ] as const) {
    const answer = await relate(member.person, source!, target!, type)
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    ownAnswers.push(answer.body.id)
  }
  const unknown = Array.from({ length: 8 }, (_, index) => `cnothing00000000000000000${index}`)
  const before = await answersTo(member, others, unknown)
  // The comparison is meaningful only if the answers hold what the member created.
  for (const id of ownAnswers) expect(before.join('')).toContain(id)

  const made: string[] = []
  const add = async (by: Person, source: object, target: object, type: string) => {
    bench.test.clock.advance(1)
    const { status, body } = await relate(by, source, target, type)
    if (status === 201) made.push(body.id)
    else expect(status, JSON.stringify(body)).toBe(409)
  }
  const [first, second] = others as [Holder, Holder]
  for (const type of types) {
    for (const { person, operations } of others) {
      for (const [index, source] of operations.entries()) {
        await add(person, source, operations[(index + 1) % operations.length]!, type)
      }
    }
    // Across members, including the member's own operations: only administrators see both ends of these.
    for (const [index, source] of first.operations.entries()) {
      await add(admin, source, second.operations[index]!, type)
      await add(admin, source, member.operations[index]!, type)
      await add(admin, member.operations[index]!, second.operations[index]!, type)
    }
  }
  expect(made.length).toBeGreaterThan(80)

  const after = await answersTo(member, others, unknown)
  expect(after).toEqual(before)
  // A relation of other members is refused like one that does not exist.
  const hidden = made.filter((_, index) => index % 10 === 0).slice(0, unknown.length)
  const refused = await Promise.all([...unknown, ...hidden].map((id) => member.person.delete(`${path}/${id}`)))
  expect(new Set(refused.map(({ status, body }) => JSON.stringify([status, withoutId(body)]))).size).toBe(1)
  expect(refused[0]!.status).toBe(404)

  for (const id of made) expect((await admin.delete(`${path}/${id}`)).status).toBe(204)
  expect(await answersTo(member, others, unknown)).toEqual(before)
})
