import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { categories } from '../conformance/src/categories.ts'
import type { Report } from '../conformance/src/run-checks.ts'
import { faultyForms, faultyOutputs, faultyReports } from './wallet-conformance/faulty-outputs.ts'
import { faultySenders } from './wallet-conformance/faulty-senders.ts'
import { faultyPayers, faultyWallets, withoutChanges } from './wallet-conformance/faulty-wallets.ts'
import { type Stand, startStand } from './wallet-conformance/stand.ts'

let stand: Stand

beforeAll(async () => {
  stand = await startStand()
})
afterAll(() => stand?.stop())

/** Mistakes that take seconds to show: all of them in `npm run nightly:conformance`, every fourth in the suite. */
const isComplete = process.env.CONFORMANCE === 'all'
const sampleOf = <Fault>(faults: Fault[]): Fault[] => (isComplete ? faults : faults.filter((_, i) => i % 4 === 0))
const takesLong = ([check]: readonly [string, ...unknown[]]) => check === 'limits.order-time' || check === 'run.time'
const quickOf = (faults: typeof faultyWallets) => faults.filter((fault) => isComplete || !takesLong(fault))

const failedIn = ({ results }: Report) => results.filter(({ status }) => status === 'failed').map(({ id }) => id)
const categoryOf = (check: string) => check.slice(0, check.indexOf('.'))

describe('the reference wallet', () => {
  it('passes every check, also the checks that move funds and the checks of webhooks', async () => {
    const { results, passed, failed } = await stand.run()
    // wallet-conformance-outputs.test.ts runs the checks of Bitcoin and Litecoin.
    expect(results.filter(({ status, category }) => status !== 'passed' && category !== 'outputs')).toEqual([])
    expect(results.filter(({ status, category }) => status !== 'skipped' && category === 'outputs')).toEqual([])
    expect(failed).toBe(0)
    expect(passed).toBeGreaterThanOrEqual(40)
  })

  it('passes without the operation for changes, whose checks are then skipped', async () => {
    const { results, failed } = await stand.run(['orders', 'changes'], { faults: { wallet: withoutChanges } })
    expect(failed).toBe(0)
    const skipped = results.filter(({ status }) => status === 'skipped').map(({ id }) => id)
    expect(skipped).toEqual(categories.find(({ name }) => name === 'changes')!.checks.map(({ id }) => id))
  })
})

describe('a wallet service with one mistake', () => {
  it.each(quickOf(faultyWallets))('%s fails when it %s', async (check, _mistake, fault) => {
    // The whole category takes ten times as long, and also shows that no other check fails.
    const only = isComplete ? categoryOf(check) : check
    const report = await stand.run([only], { changes: { spend: false }, faults: { wallet: fault } })
    expect(failedIn(report)).toEqual([check])
  })

  it.each(sampleOf(faultyPayers))('%s fails when it %s', async (check, _mistake, fault) => {
    const report = await stand.run(['payments.confirmed', check], { faults: { wallet: fault } })
    expect(failedIn(report)).toEqual([check])
  })

  it.each(sampleOf(faultySenders))('%s fails when it %s', async (check, _mistake, fault) => {
    // The kit waits the whole time for a deposit that never comes. Other deposits come after a few seconds.
    const isWaitedFor = /reported|after-|independent/.test(check)
    const only = isWaitedFor ? [check] : ['webhooks.reported', 'webhooks.after-server-error', check]
    const changes = isWaitedFor ? { waitSeconds: 8 } : {}
    expect(failedIn(await stand.run(only, { changes, faults: { webhook: fault } }))).toEqual([check])
  })

  it('exists for every check', () => {
    const ofOutputs = [...faultyForms, ...faultyOutputs, ...faultyReports]
    const shown = [...faultyWallets, ...faultyPayers, ...faultySenders, ...ofOutputs].map(([check]) => check)
    expect(new Set(shown)).toEqual(new Set(categories.flatMap(({ checks }) => checks.map(({ id }) => id))))
  })
})
