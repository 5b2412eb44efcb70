import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readSamples } from '../../../jobs/watch/samples.ts'
import { reconciledPerPage, reconciliationAgainMinutes } from '../../../lib/limits.ts'
import { usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { listBooked } from './chain-balances.ts'
import { runDueReconciliations } from './due-reconciliations.ts'

const hour = 3_600_000
const url = '/vaults/main-vault/ledger/reconciliation'

let bench: TransferBench
let rich: { id: string; address: string }
let poor: { id: string; address: string }

beforeAll(async () => {
  bench = await createTransferBench()
  rich = await bench.fundedAddress({ usdt: '100' })
  poor = await bench.fundedAddress({ usdt: '100' })
  onChain(rich, '100000000')
  onChain(poor, '100000000')
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

const onChain = ({ address }: { address: string }, raw: string, contract = usdtContract) =>
  bench.vault.wallet.balances.set(`${address} ${contract}`.trim().toLowerCase(), raw)
const run = (signal = new AbortController().signal) => runDueReconciliations(bench.test.deps, signal)
/** Lets the time pass and runs the due reconciliations. */
async function runAfter(milliseconds: number) {
  bench.test.clock.advance(milliseconds)
  await run()
}
const announcements = () =>
  bench.sql(
    `select content::json->'details'->'differences' as differences from audit_records
     where action = 'reconciliation.differs' order by id`,
  )
const gauge = async (name: string) =>
  (await readSamples(bench.test.deps)).find((sample) => sample.gauge === name)?.value

describe('T76 a reconciliation', () => {
  it('T76 compares address by address: a surplus on one hides no deficit on another', async () => {
    onChain(rich, '130000000')
    onChain(poor, '70000000')
    const { tokens, addresses } = (await bench.vault.admin.get(url)).body
    expect(tokens).toEqual([expect.objectContaining({ onChain: '200000000', difference: '0' })])
    expect(addresses).toHaveLength(2)
    expect(addresses).toContainEqual(expect.objectContaining({ addressId: rich.id, difference: '30000000' }))
    expect(addresses).toContainEqual({
      addressId: poor.id,
      address: poor.address,
      token: expect.objectContaining({ code: 'USDT', network: 'ethereum' }),
      inBooks: '100000000',
      onChain: '70000000',
      difference: '-30000000',
    })
  })

  it('T76 runs by itself, and announces a certain difference once', async () => {
    await run()
    expect(await announcements()).toEqual([])
    // The first comparison is one interval after the vault was added; the second one follows soon.
    await runAfter(6 * hour + 1_000)
    expect([await announcements(), await gauge('strongroom_balance_differences')]).toEqual([[], 0])
    await runAfter(reconciliationAgainMinutes * 60_000 + 1_000)
    const [announcement, ...others] = await announcements()
    expect(others).toEqual([])
    expect(announcement.differences.map((entry: { difference: string }) => entry.difference).sort()).toEqual([
      '-30000000',
      '30000000',
    ])
    expect(await gauge('strongroom_balance_differences')).toBe(2)
    const mails = await bench.sql(
      `select a.content from announcements a join notifications n on n.subject_id = a.audit_record_id
       where n.user_id = $1 and a.content like '%differ from the chain%'`,
      [bench.vault.admin.userId],
    )
    expect(mails).toHaveLength(1)
    expect(mails[0].content).toContain(poor.address)
    expect(mails[0].content).toContain('30 missing on chain')
    for (let i = 0; i < 3; i += 1) await runAfter(6 * hour + 1_000)
    expect(await announcements()).toHaveLength(1)
    // A larger difference is news.
    onChain(poor, '60000000')
    await runAfter(6 * hour + 1_000)
    await runAfter(reconciliationAgainMinutes * 60_000 + 1_000)
    expect((await announcements()).at(-1).differences).toEqual([
      expect.objectContaining({ addressId: poor.id, difference: '-40000000' }),
    ])
    onChain(rich, '100000000')
    onChain(poor, '100000000')
    await runAfter(6 * hour + 1_000)
    expect(await gauge('strongroom_balance_differences')).toBe(0)
    expect(await bench.sql('select from reconciliation_differences')).toEqual([])
  })

  it('T76 counts transfers in progress and owed fees as no difference', async () => {
    const { body } = await bench.order(poor.id, '10')
    await bench.deliver()
    for (const raw of ['100000000', '90000000']) {
      onChain(poor, raw)
      expect((await bench.vault.admin.get(url)).body.addresses).toEqual([])
    }
    onChain(poor, '89000000')
    expect((await bench.vault.admin.get(url)).body.addresses).toEqual([
      expect.objectContaining({ addressId: poor.id, difference: '-1000000' }),
    ])
    bench.vault.wallet.confirm(body.id, { fee: '21000' })
    await bench.deliver()
    onChain(poor, '90000000')
    // The books have no coin of the network at the address but an owed fee, so a negative balance is expected.
    onChain(poor, '79000', '')
    expect((await bench.vault.admin.get(url)).body.addresses).toEqual([
      expect.objectContaining({ addressId: poor.id, inBooks: '0', onChain: '79000', difference: '100000' }),
    ])
    onChain(poor, '0', '')
  })

  it('T76 continues after a stop and after a silent wallet service, on one node at a time', async () => {
    await bench.sql('update reconciliations set next_at = $1', [new Date(bench.test.clock.now().getTime() - 2 * hour)])
    const stopped = new AbortController()
    stopped.abort()
    await run(stopped.signal)
    await bench.sql('update reconciliations set leased_until = $1', [new Date(bench.test.clock.now().getTime() + hour)])
    await run()
    expect(await gauge('strongroom_reconciliations_due')).toBe(1)
    await bench.sql('update reconciliations set leased_until = null')
    const kept = await bench.sql('select wallet_service_url from vaults')
    await bench.sql(`update vaults set wallet_service_url = 'http://127.0.0.1:1'`)
    await run()
    expect(await gauge('strongroom_reconciliations_due_oldest_seconds')).toBeGreaterThan(7_000)
    await bench.sql('update vaults set wallet_service_url = $1', [kept[0].wallet_service_url])
    await run()
    expect(await gauge('strongroom_reconciliations_due')).toBe(1)
    await runAfter(reconciliationAgainMinutes * 60_000 + 1_000)
    expect(await gauge('strongroom_reconciliations_due')).toBe(0)
  })

  it('T76 reads a vault in pages, each balance once', async () => {
    const all = await listBooked(bench.test.deps.db, bench.vault.id, null)
    expect(all.length).toBeLessThanOrEqual(reconciledPerPage)
    const [first, ...rest] = all
    expect(await listBooked(bench.test.deps.db, bench.vault.id, first!)).toEqual(rest)
    expect(await listBooked(bench.test.deps.db, bench.vault.id, all.at(-1)!)).toEqual([])
  })
})
