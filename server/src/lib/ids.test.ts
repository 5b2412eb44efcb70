import { describe, expect, it } from 'vitest'
import { idOfSequence, idPattern, leastIdAt, newId } from './ids.ts'

describe('ids', () => {
  it('have the form of a cuid and never repeat', () => {
    const ids = Array.from({ length: 10_000 }, () => newId())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !new RegExp(idPattern).test(id))).toEqual([])
  })

  it('sort by the time they were made', () => {
    const times = [0, 1, 1_000, Date.UTC(2001, 8, 9), Date.UTC(2026, 0, 31), Date.UTC(2058, 11, 31)]
    const ids = times.map((time) => newId(new Date(time)))
    expect([...ids].sort()).toEqual(ids)
  })

  it('are less than the least id of a time if, and only if, they were made before it', () => {
    const at = new Date('2026-01-31T09:30:00.000Z')
    const [before, then] = [newId(new Date(at.getTime() - 1)), newId(at)]
    expect([before < leastIdAt(at), then < leastIdAt(at)]).toEqual([true, false])
  })

  it('use every digit evenly in their random part', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 4_000; i += 1) {
      for (const digit of newId().slice(9)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    }
    const expected = (4_000 * 16) / 36
    expect(counts.size).toBe(36)
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2)
  })

  it('made from a sequence have the same form and keep its order', () => {
    const at = new Date('2026-01-31T09:30:00.000Z')
    const ids = [1n, 2n, 35n, 36n, 2n ** 62n].map((sequence) => idOfSequence(at, sequence))
    expect([...ids].sort()).toEqual(ids)
    expect(ids.every((id) => new RegExp(idPattern).test(id))).toBe(true)
  })
})
