import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createApp } from '../../../app.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import { openDeps } from '../../../start.ts'

import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { createAddress, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let hashes = 0

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

const newHash = () => fakeTxHash(`crowd ${++hashes}`)
type Tx = Record<string, unknown>
const send = (tx: Tx) => bench.test.anonymous.post('//webhooks/wallet', { kind: 'TOPUP', tx })
const eventTo = (toAddress: string, more: Tx = {}): Tx => ({
  network: 'ethereum',
  asset: usdtContract,
  amount: '1',
  toAddress,
  txHash: newHash(),
  ...more,
})
const available = async (addressId: string) =>
  (await bench.owner.get(`/vaults/main-vault/balances?addressId=${addressId}`)).body.totals[0]?.available ?? null
const commits = async () => {
  const [row] = await bench.sql('select count(distinct xmin::text)::int as n from wallet_events')
  return row!.n as number
}

it('answers each event of a group: credited, duplicate, quarantined, unmatched, ignored, malformed', async () => {
  const [first, second] = [
    await createAddress(bench.owner, { token: 'USDT' }),
    await createAddress(bench.owner, { token: 'USDT' }),
  ]
  const before = await commits()
  const same = eventTo(first.address, { amount: '5' })
  const kinds: [outcome: string | number, tx: Tx][] = []
  for (let i = 0; i < 20; i += 1) {
    kinds.push(
      ['credited', eventTo(first.address, { amount: '1' })],
      ['credited', eventTo(second.address, { amount: '2' })],
    )
    kinds.push(['unmatched', eventTo(fakeAddress(`nobody ${newHash()}`))])
    kinds.push(['ignored', eventTo(first.address, { asset: fakeAddress('no token of ours') })])
    kinds.push(['ignored', eventTo(first.address, { network: 'nowhere' })])
    kinds.push([400, eventTo(first.address, { amount: '0.0000001' })], [400, eventTo(first.address, { amount: '-1' })])
  }
  const [crowd, repeats] = await Promise.all([
    Promise.all(kinds.map(([, tx]) => send(tx))),
    Promise.all([same, same, { ...same, amount: '6' }, same].map(send)),
  ])
  expect(crowd.map(({ status, body }) => (status === 200 ? body.outcome : status))).toEqual(kinds.map(([kind]) => kind))
  expect(repeats.map(({ body }) => body.outcome)).toEqual(['credited', 'duplicate', 'quarantined', 'duplicate'])
  expect(new Set(repeats.map(({ body }) => body.depositId)).size).toBe(1)
  expect([await available(first.id), await available(second.id)]).toEqual(['25000000', '40000000'])
  // Separately, 104 recorded events would have needed as many transactions.
  expect((await commits()) - before).toBeLessThan(20)
})

it('credits the other events of a batch when the amount of one exceeds its account', async () => {
  const [victim, giant] = [
    await createAddress(bench.owner, { token: 'USDT' }),
    await createAddress(bench.owner, { token: 'USDT' }),
  ]
  const most = `${rawAmountMax / 1_000_000n}.${rawAmountMax % 1_000_000n}`
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      send(i % 2 === 0 ? eventTo(giant.address, { amount: most }) : eventTo(victim.address, { amount: '1' })),
    ),
  )
  const statuses = (parity: number) => answers.filter((_, i) => i % 2 === parity).map(({ status }) => status)
  expect(statuses(1)).toEqual(Array(12).fill(200))
  expect(statuses(0)).toEqual(Array(12).fill(200))
  const outcomes = answers.filter((_, i) => i % 2 === 0).map(({ body }) => body.outcome)
  expect(outcomes.sort()).toEqual(['credited', ...Array(11).fill('quarantined')])
  expect(await available(victim.id)).toBe('12000000')
  expect(await available(giant.id)).toBe(rawAmountMax.toString())
})

it('T11 stays exact with two nodes: every event is sent to both and credited once', async () => {
  const addresses = await Promise.all([1, 2, 3].map(() => createAddress(bench.owner, { token: 'USDT' })))
  const { config } = bench.test.deps
  const node = await openDeps(config, config.databaseUrl!, bench.test.deps.log, bench.test.deps.clock)
  const app = await createApp(node.deps)
  try {
    const events = Array.from({ length: 150 }, (_, i) => eventTo(addresses[i % 3]!.address, { amount: '1' }))
    const sendToOther = async (tx: Tx) => {
      const answer = await app.inject({ method: 'POST', url: '/webhooks/wallet', payload: { kind: 'TOPUP', tx } })
      return answer.json().outcome
    }
    const outcomes = await Promise.all([
      ...events.map(async (tx) => (await send(tx)).body.outcome),
      ...[...events].reverse().map(sendToOther),
    ])
    expect(outcomes.filter((outcome) => outcome === 'credited')).toHaveLength(150)
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(150)
    for (const { id } of addresses) expect(await available(id)).toBe('50000000')
  } finally {
    await app.close()
    await node.close()
  }
})
