import { expect, test } from 'vitest'
import { findFallen, remember } from './authority-memory.ts'

/** A substitute for `localStorage`. */
function memory() {
  const items = new Map<string, string>()
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  }
}

const version = (number: number, hash: string | null = `hash ${number}`) => ({ version: number, hash })

test('T59 a browser remembers the highest version of each vault, and names it when an older or another one is shown', () => {
  const seen = memory()
  expect(findFallen(seen, 'vault', version(1))).toBeNull()
  expect(findFallen(seen, 'vault', version(2))).toBeNull()
  expect(findFallen(seen, 'vault', version(1))).toEqual(version(2))
  expect(findFallen(seen, 'vault', version(2, 'another'))).toEqual(version(2))
  expect(findFallen(seen, 'vault', version(0, null))).toEqual(version(2))
  expect(findFallen(seen, 'other', version(1))).toBeNull()
  // It is not forgotten by what was shown meanwhile, and heals when the newest is back.
  expect(findFallen(seen, 'vault', version(2))).toBeNull()
  expect(findFallen(seen, 'vault', version(3))).toBeNull()
  expect(findFallen(seen, 'vault', version(2))).toEqual(version(3))
})

test('T59 a comparison with an older version makes it the newest, and an unreadable memory counts as empty', () => {
  const seen = memory()
  findFallen(seen, 'vault', version(2))
  remember(seen, 'vault', version(1))
  expect(findFallen(seen, 'vault', version(1))).toBeNull()
  seen.setItem('strongroom.authority.vault', '{')
  expect(findFallen(seen, 'vault', version(1))).toBeNull()
  expect(findFallen(seen, 'none', version(0, null))).toBeNull()
  expect(seen.getItem('strongroom.authority.none')).toBeNull()
})
