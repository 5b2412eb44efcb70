import { afterAll, beforeAll, expect, it } from 'vitest'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
})
afterAll(() => world.close())

it('network fees are summed with their value, and those without a value are listed', async () => {
  const draft = { type: 'transfer', amount: '1' } as const
  const at = (day: number) => `2031-03-0${day}T12:00:00.000Z`
  const meant = await world.add({ ...draft, at: at(2), fee: { amount: '0.5', rate: null } })
  await world.add({ ...draft, at: at(3), fee: { amount: '0.5', rate: '2000' } })
  await world.add({ ...draft, at: at(4) })
  const interval = { from: '2031-03-01', to: '2031-04-01' }
  const { dataQuality, summary } = await world.report('transaction_activity', interval)
  expect([dataQuality.feesWithoutUsdRate, summary.feesUsd]).toEqual([1, '1000.00'])
  expect(summary.feesByAsset).toMatchObject([{ assetCode: 'ETH', amount: '1' }])
  const { items } = await world.report('operations_exceptions', { ...interval, exceptions: 'feesWithoutUsdRate' })
  expect(items.map(({ id, exceptions }) => [id, exceptions])).toEqual([[meant, ['feesWithoutUsdRate']]])
})
