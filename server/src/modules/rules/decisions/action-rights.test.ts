import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { actionTypes } from '../selectors/facts.ts'
import { protects, rightOf } from './action-rights.ts'

test('T74 every action type says which right a policy of it decides on', () => {
  expect(Object.keys(rightOf).sort()).toEqual([...actionTypes].sort())
})

test('docs/governance.md has the same table', async () => {
  const page = await readFile(new URL('../../../../../docs/governance.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (moves something|may protect) +\|$/gm)]
  const words = { moves: 'moves something', protects: 'may protect' }
  expect(rows.map(([, type, text]) => [type, text])).toEqual(
    Object.entries(rightOf).map(([type, right]) => [type, words[right]]),
  )
})

test('an action type without a row protects, so that nobody changes it alone', () => {
  for (const unknown of ['', 'new_action', 'toString']) expect(protects(unknown)).toBe(true)
  expect(protects('transfer')).toBe(false)
  expect(protects('hold_place')).toBe(true)
})
