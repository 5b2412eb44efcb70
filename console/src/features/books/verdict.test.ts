import { expect, it } from 'vitest'
import { verdictOf } from './verdict.ts'

const row = { sumOfPostings: '0', cached: '5', recomputed: '5', difference: '0', outstandingFees: '0' }

it.each([
  [{}, 'agrees'],
  [{ difference: '-2', outstandingFees: '2' }, 'fees'],
  [{ difference: '2', outstandingFees: '2' }, 'differs'],
  [{ difference: '-3', outstandingFees: '2' }, 'differs'],
  [{ difference: null }, 'unknown'],
  [{ cached: '6' }, 'broken'],
  [{ sumOfPostings: '1', difference: null }, 'broken'],
])('the row with %o is %s', (changed, expected) => expect(verdictOf({ ...row, ...changed })).toBe(expected))
