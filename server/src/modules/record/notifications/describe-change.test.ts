import { describe, expect, it } from 'vitest'
import { describeChange } from './announce.ts'

const by = { actor: 'Ann (ann@example.org)', now: new Date('2026-01-31T09:30:00.000Z'), auditRecordId: 'c1' }
const lineOf = (before: unknown, after: unknown) =>
  describeChange({ sentence: 'It was updated', before: { rules: before }, after: { rules: after } }, by).split('\n')[1]!

describe('T35 a change in words', () => {
  it('shows short values whole', () => {
    expect(lineOf([1, 2], [1, 3])).toBe('- rules: from [1,2] to [1,3]')
  })

  it('shows of long values the place where they differ, however late that is', () => {
    const names = Array.from({ length: 200 }, (_, i) => `name-${i}`)
    const line = lineOf([...names, { limit: '1000' }, ...names], [...names, { limit: '900000' }, ...names])
    expect(line).toContain('"limit":"1000"')
    expect(line).toContain('"limit":"900000"')
    expect(line).toMatch(/^- rules: from ….*… to ….*…$/)
    expect(line.length).toBeLessThan(700)
  })

  it('shows where one of two long values ends', () => {
    const names = Array.from({ length: 200 }, (_, i) => `name-${i}`)
    const line = lineOf(names, [...names, 'one more'])
    expect(line).toContain('one more')
    expect(line).toMatch(/"name-199"\] to …/)
  })
})
