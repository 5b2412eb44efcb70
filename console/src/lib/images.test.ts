import { describe, expect, it } from 'vitest'
import { fitted, initialsOf, isOwnImage } from './images.ts'

describe('initials', () => {
  it.each([
    ['Ann Miller', 'AM'],
    ['treasurer@example.org', 'TE'],
    ['USDT', 'U'],
    ['  élan   vital  ', 'ÉV'],
    ['𝒳 1', '𝒳1'],
    ['—', ''],
  ])('of %j are %j', (name, initials) => {
    expect(initialsOf(name)).toBe(initials)
  })
})

it('a picture keeps its proportions and never grows', () => {
  expect(fitted({ width: 1_000, height: 500 }, 256)).toEqual({ width: 256, height: 128 })
  expect(fitted({ width: 3, height: 5_000 }, 256)).toEqual({ width: 1, height: 256 })
  expect(fitted({ width: 40, height: 30 }, 256)).toEqual({ width: 40, height: 30 })
})

it('only images of the service itself are shown', () => {
  expect(isOwnImage(`/api/v1/images/${'a'.repeat(64)}`)).toBe(true)
  for (const other of ['https://example.org/a.png', '//example.org/a.png', null, undefined])
    expect(isOwnImage(other)).toBe(false)
})
