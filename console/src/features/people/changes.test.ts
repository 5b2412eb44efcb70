import { describe, expect, it } from 'vitest'
import { changesOf, endOfDay, tokenState } from './changes.ts'

describe('the changes of a list', () => {
  it.each([
    [[], [], [], []],
    [['a'], ['a'], [], []],
    [['a', 'b'], ['b', 'c'], ['c'], ['a']],
    [['a'], [], [], ['a']],
  ])('from %j to %j add %j and remove %j', (before, after, added, removed) => {
    expect(changesOf(before, after)).toEqual({ added, removed })
  })
})

describe('the state of a service token', () => {
  const now = Date.parse('2026-05-01T00:00:00Z')
  it.each([
    [null, null, 'active'],
    ['2026-05-02T00:00:00Z', null, 'active'],
    ['2026-05-01T00:00:00Z', null, 'expired'],
    ['2026-05-02T00:00:00Z', '2026-04-01T00:00:00Z', 'revoked'],
  ])('that expires %s and was revoked %s is %s', (expiresAt, revokedAt, state) => {
    expect(tokenState({ expiresAt, revokedAt }, now)).toBe(state)
  })

  it('ends with the last second of the chosen day', () => {
    expect(endOfDay('')).toBeNull()
    expect(new Date(endOfDay('2026-05-01')!).getDate()).toBe(1)
    expect(new Date(Date.parse(endOfDay('2026-05-01')!) + 1_000).getDate()).toBe(2)
  })
})
