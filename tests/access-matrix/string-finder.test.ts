import { expect, it } from 'vitest'
import { StringFinder } from './string-finder.ts'

it('finds the strings of all sets, wherever they stand in a text', () => {
  const [ids, names] = [
    new Set(['c00000000000000000000001', '0xc0ffee']),
    new Set(['Supplier 1 of harbour', 'harbour']),
  ]
  const finder = new StringFinder([ids, names])
  expect([...finder.foundIn('nothing')]).toEqual([])
  expect(finder.foundIn('{"id":"xc00000000000000000000001y"}')).toEqual(new Set(['c00000000000000000000001']))
  expect(finder.foundIn('harbour')).toEqual(new Set(['harbour']))
  expect(finder.foundIn('0xc0ffee, Supplier 1 of harbour')).toEqual(
    new Set(['0xc0ffee', 'Supplier 1 of harbour', 'harbour']),
  )
})

it('finds strings that were added after a text was searched', () => {
  const ids = new Set<string>()
  const finder = new StringFinder([ids])
  expect(finder.foundIn('the id of it').size).toBe(0)
  ids.add('the id')
  expect(finder.foundIn('the id of it')).toEqual(new Set(['the id']))
})

it('refuses strings that are in texts by chance', () => {
  expect(() => new StringFinder([new Set(['short'])]).foundIn('')).toThrow('too short')
})
