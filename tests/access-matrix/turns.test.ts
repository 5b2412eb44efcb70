import { expect, it } from 'vitest'
import { inTurn } from './turns.ts'

const values = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

it.each([1, 2, 3, 6])(
  'each value has its turn within a round of as many turns as there are values, %i at a time',
  (count) => {
    const rounds = values.map((_, turn) => inTurn(values, turn, count, false))
    for (const round of rounds) expect(new Set(round).size).toBe(count)
    for (const value of values) expect(rounds.filter((round) => round.includes(value))).toHaveLength(count)
  },
)

it('all values have their turn when they are fewer than may be chosen, and in the whole form', () => {
  expect(inTurn(values, 3, 9, false)).toEqual(values)
  expect(inTurn(values, 3, 1, true)).toEqual(values)
})
