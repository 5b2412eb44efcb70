import { expect, it } from 'vitest'
import { labelStep, ticksOf } from './ticks.ts'

it.each([
  [0, 100, [0, 50, 100]],
  [0, 80, [0, 20, 40, 60, 80]],
  [-30, 90, [-50, 0, 50, 100]],
  [49_900, 50_100, [49_900, 49_950, 50_000, 50_050, 50_100]],
  [0, 0, [-1, -0.5, 0, 0.5, 1]],
  [0, 3e-6, [0, 1e-6, 2e-6, 3e-6]],
])('round values enclose %s to %s', (low, high, expected) => {
  const ticks = ticksOf(low, high)
  expect(ticks.map((tick) => Number(tick.toPrecision(9)))).toEqual(expected)
})

it('a chart draws as many labels as have a place', () => {
  expect([labelStep(5, 600, 80), labelStep(30, 600, 80), labelStep(400, 300, 80), labelStep(3, 0, 80)]).toEqual([
    1, 4, 107, 240,
  ])
})
