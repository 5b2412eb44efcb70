import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { judge } from '../../../jobs/watch/checks.ts'
import { readSamples } from '../../../jobs/watch/samples.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Authenticator } from '../../../testing/authenticator.ts'
import { authorityAnswer } from '../../../testing/fake-authority.ts'
import { addPasskey, confirming } from '../../../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { acceptAuthority, isBehind } from './authority-mark.ts'
import { watchAuthorities } from './watch-authorities.ts'

let bench: TransferBench
let key: Authenticator
let address: Address
const base = () => `/vaults/${bench.vault.code}` as const

beforeAll(async () => {
  bench = await createTransferBench()
  key = await addPasskey(bench.owner)
  bench.vault.admin = confirming(bench.vault.admin, await addPasskey(bench.vault.admin))
  show(versionOf(1, null))
  expect((await bench.vault.admin.put(`${base()}/protection`, { protection: 'votes' })).status).toBe(200)
})
afterAll(() => bench.close())
beforeEach(async () => {
  await bench.sql('delete from authority_marks')
  address = await bench.fundedAddress()
})

type Answer = ReturnType<typeof authorityAnswer>
const versionOf = (version: number, previous: Answer | null, changes: object = {}): Answer =>
  authorityAnswer(bench.vault.id, [{ person: bench.owner.userId, key }], version, {
    previous: previous?.hash ?? null,
    ...changes,
  })

/** Sets the answer of the wallet service from now on. With null it has no authority. */
function show(answer: Answer | null) {
  bench.vault.wallet.authority = answer
}

async function ordered(): Promise<string> {
  const order = { fromAddressId: address.id, toAddress: bench.recipient, amount: '40' }
  const { body } = await bench.owner.post(`${base()}/transfers/preview`, order)
  const { order: payload, vote } = body as never as { order: { transferId: string }; vote: never }
  const { transferId, expiresAt, rulesVersion } = payload as never as Record<string, never>
  const signed = { transferId, expiresAt, rulesVersion, vote: key.vote(vote) }
  expect((await bench.owner.post(`${base()}/transfers`, { ...order, signed })).status).toBe(201)
  return payload.transferId
}

const isHandedOver = async (id: string): Promise<boolean> => {
  bench.test.clock.advance(120_000)
  await bench.deliver()
  return bench.vault.wallet.broadcastCount(id) > 0
}

const handOvers = (id: string) =>
  bench.vault.wallet.requests.filter(
    ({ method, path, body }) => method === 'POST' && path === '/transfers' && (body as { id: string }).id === id,
  ).length

const isRed = async () => {
  const findings = judge(await readSamples({ ...bench.test.deps, clock: bench.test.clock.now }))
  return findings.some(({ check, red }) => check.alert === 'StrongroomAuthorityFell' && red.length > 0)
}

const recordsOf = async (action: string) =>
  (await bench.sql(`select content from audit_records where action = $1 order by id`, [action])).map(
    ({ content }) => JSON.parse(content).details,
  )

const first = () => versionOf(1, null)
const second = () => versionOf(2, first(), { delayHours: 1 })

describe('T59 both files of the wallet service restored from one snapshot', () => {
  const falls: [string, () => Answer | null][] = [
    ['an older version', first],
    ['another version 2', () => versionOf(2, first(), { delayHours: 2 })],
    ['a version 3 that follows another version 2', () => versionOf(3, first())],
    ['no authority', () => null],
  ]
  it.each(falls)(
    '%s: nothing is handed over, and everybody sees red until the newest is back',
    async (_name, fallen) => {
      show(second())
      expect(await isHandedOver(await ordered())).toBe(true)
      expect(await isRed()).toBe(false)
      const claimed = await ordered()
      const waiting = await ordered()
      // It may have been sent before: the wallet service is asked about it, and then nothing is sent again.
      await bench.sql(`update transfers set phase = 'submitting', sent_at = now() where id = $1`, [claimed])
      show(fallen())
      for (const id of [claimed, waiting]) expect(await isHandedOver(id)).toBe(false)
      expect([handOvers(claimed), handOvers(waiting)]).toEqual([0, 0])
      expect(await isRed()).toBe(true)
      const shown = fallen()
      expect(await recordsOf('vault.authority_fell')).toContainEqual({
        from: { version: 2, hash: second().hash },
        shown: { version: shown?.version ?? 0, hash: shown?.hash ?? null },
      })
      expect((await bench.vault.admin.get(base())).body.authority).toEqual({
        version: shown?.version ?? 0,
        hash: shown?.hash ?? null,
        alarmSince: expect.any(String),
      })
      show(second())
      for (const id of [claimed, waiting]) expect(await isHandedOver(id)).toBe(true)
      expect(await isRed()).toBe(false)
      expect((await bench.vault.admin.get(base())).body.authority).toEqual({
        version: 2,
        hash: second().hash,
        alarmSince: null,
      })
    },
  )

  it('a later signed version becomes the highest, and the version before it is then behind', async () => {
    show(second())
    await watchAuthorities(bench.test.deps)
    show(versionOf(3, second()))
    expect(await isHandedOver(await ordered())).toBe(true)
    show(second())
    const waiting = await ordered()
    expect(await isHandedOver(waiting)).toBe(false)
    show(versionOf(5, first()))
    expect(await isHandedOver(waiting)).toBe(true)
  })

  it('is noticed without an order, and by every read of the authority', async () => {
    show(second())
    await watchAuthorities(bench.test.deps)
    show(first())
    await watchAuthorities(bench.test.deps)
    expect(await isRed()).toBe(true)
    await bench.sql('delete from authority_marks')
    show(second())
    const read = () => bench.vault.admin.get(`${base()}/authority`)
    expect((await read()).body).toMatchObject({ version: 2, highest: { version: 2 }, alarmSince: null })
    show(first())
    const fallen = await read()
    expect(fallen.body).toMatchObject({ version: 1, highest: { version: 2, hash: second().hash } })
    expect(fallen.body.alarmSince).toEqual(expect.any(String))
    expect(await isRed()).toBe(true)
  })

  it('is accepted by an operator who compared it, which is recorded', async () => {
    show(second())
    await watchAuthorities(bench.test.deps)
    const { code } = bench.vault
    const accept = (fingerprint: string) =>
      inTransaction(bench.test.deps.db, (trx) =>
        acceptAuthority(trx, { code, fingerprint, reason: 'compared', operator: 'root', now: bench.test.clock.now() }),
      )
    await expect(accept(first().hash.slice(0, 8))).rejects.toThrow('seen last')
    show(first())
    const waiting = await ordered()
    expect(await isHandedOver(waiting)).toBe(false)
    await expect(accept(second().hash.slice(0, 8))).rejects.toThrow('begins with')
    await expect(accept('')).rejects.toThrow('begins with')
    await accept(first().hash.slice(0, 8))
    expect(await recordsOf('vault.authority_accepted')).toEqual([
      {
        from: { version: 2, hash: second().hash },
        to: { version: 1, hash: first().hash },
        reason: 'compared',
        operator: 'root',
      },
    ])
    expect(await isHandedOver(waiting)).toBe(true)
    expect(await isRed()).toBe(false)
  })

  it('stops a speed-up too, while a transaction waits', async () => {
    show(second())
    const id = await ordered()
    expect(await isHandedOver(id)).toBe(true)
    bench.vault.wallet.broadcast(id)
    await bench.deliver()
    show(first())
    await watchAuthorities(bench.test.deps)
    const { txHash } = await bench.read(id)
    const faster = await bench.owner.post(`${base()}/transfers/${id}/speed-up`, { txHash })
    expect([faster.status, faster.body.reason]).toEqual([409, 'not_replaceable'])
    expect((await bench.owner.post(`${base()}/transfers/${id}/cancel-on-chain`, { txHash })).status).toBe(200)
  })
})

describe('isBehind', () => {
  const mark = { version: '2', hash: 'b' }
  it.each([
    [{ version: 2, hash: 'b', previous: 'a' }, false],
    [{ version: 2, hash: 'c', previous: 'a' }, true],
    [{ version: 1, hash: 'a', previous: null }, true],
    [{ version: 3, hash: 'c', previous: 'b' }, false],
    [{ version: 3, hash: 'c', previous: 'x' }, true],
    [{ version: 4, hash: 'd', previous: 'c' }, false],
    [null, true],
  ])('%j: %s', (shown, expected) => {
    expect(isBehind(mark, shown)).toBe(expected)
  })
})
