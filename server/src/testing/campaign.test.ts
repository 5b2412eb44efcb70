import { beforeEach, expect, it, vi } from 'vitest'
import { campaignOf } from './campaign.ts'

const suite = { runs: 10, seed: 7 }

beforeEach(() => {
  vi.spyOn(console, 'info').mockImplementation(() => undefined)
})

it('tries the same cases in every run of the suite', () => {
  expect(campaignOf('HOLD', suite, { GOVERNANCE_RUNS: '100' })).toEqual(suite)
  expect(console.info).not.toHaveBeenCalled()
})

it('tries new cases every night, and prints how to repeat them', () => {
  const nights = [1, 2, 3].map(() => campaignOf('HOLD', suite, { HOLD_RUNS: '1000' }))
  expect(nights.map(({ runs }) => runs)).toEqual([1000, 1000, 1000])
  expect(new Set(nights.map(({ seed }) => seed)).size).toBeGreaterThan(1)
  expect(console.info).toHaveBeenLastCalledWith(`HOLD_RUNS=1000 HOLD_SEED=${nights[2]!.seed}`)
})

it('repeats a night by its seed', () => {
  expect(campaignOf('HOLD', suite, { HOLD_RUNS: '1000', HOLD_SEED: '41' })).toEqual({ runs: 1000, seed: 41 })
  expect(campaignOf('HOLD', suite, { HOLD_SEED: '41' })).toEqual({ runs: 10, seed: 41 })
})
