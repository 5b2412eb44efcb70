import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../lib/errors.ts'
import { createSlots } from './slots.ts'

const refusal = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    const { status, headers } = error as AppError
    return [status, headers['retry-after']]
  }
  return null
}

describe('slots', () => {
  it('T54 limits slots for each caller and for the node, and ignores a second release', () => {
    const slots = createSlots({ ofNode: 3, ofCaller: 2 })
    const first = slots.take('one')
    slots.take('one')
    expect(refusal(() => slots.take('one'))).toEqual([429, '10'])
    const third = slots.take('two')
    expect(refusal(() => slots.take('two'))).toEqual([503, '10'])
    first()
    // A second release of a slot does not release the slot of another caller.
    first()
    expect(refusal(() => slots.take('one'))).toBeNull()
    expect(refusal(() => slots.take('three'))).toEqual([503, '10'])
    third()
    expect(refusal(() => slots.take('three'))).toBeNull()
  })
})
