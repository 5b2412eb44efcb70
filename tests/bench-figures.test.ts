import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Published, publish, withFigures } from '../bench/lib/figures.ts'
import type { Result } from '../bench/lib/record.ts'

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

function published(): Published[] {
  const directory = new URL('bench/figures/', root)
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names.map((name) => JSON.parse(read(`bench/figures/${name}`)) as Published)
}

/** A page without the spaces that align its tables. */
const cellsOf = (text: string) => text.replaceAll(/ +/g, ' ')

const page =
  'Before\n<!-- figures: npm run bench:figures writes this part -->\n\nold\n<!-- end of the figures -->\nAfter\n'

function resultOf(changes: Partial<Result>): Result {
  return {
    program: 'policies',
    words: [],
    at: '2026-01-01T00:00:00.000Z',
    revision: 'a'.repeat(40),
    changedFiles: 0,
    machine: { cpu: 'Fast', cores: 2, memoryMegabytes: 1, kernel: 'k', loadAverageBefore: 0, loadAverageAfter: 1 },
    versions: { node: 'v20', postgres: null },
    minutes: 0.5,
    settings: {},
    goals: [{ key: 'policies', value: 3, of: '' }],
    figures: [],
    ...changes,
  }
}

it('the figures of docs/performance.md are those of bench/figures; npm run bench:figures writes them', () => {
  const text = read('docs/performance.md')
  expect(text).toBe(withFigures(text, published()))
})

it('a figure that is edited by hand differs from the results', () => {
  const results = publish([resultOf({})])
  const text = withFigures(page, results)
  expect(cellsOf(text)).toContain(
    '| `npm run bench:policies` | 1,000 candidate policies: ms of CPU | 3.00 | at most 5 | met |',
  )
  const edited = text.replace('| 3.00 ', '| 2.00 ')
  expect(edited).not.toBe(text)
  expect(withFigures(edited, results)).toBe(text)
  expect(text.startsWith('Before\n') && text.endsWith('-->\nAfter\n')).toBe(true)
})

it('publishes the newest whole result of a committed revision, and of several values the worst', () => {
  const goals: Result['goals'] = [
    { key: 'policies', value: 4, of: 'cold' },
    { key: 'policies', value: 6, of: 'warm' },
    { key: 'policies', value: 5, of: 'hot' },
  ]
  const results = [
    resultOf({ at: '2026-01-02T00:00:00.000Z', goals }),
    resultOf({ at: '2026-01-01T00:00:00.000Z' }),
    resultOf({ at: '2026-01-03T00:00:00.000Z', changedFiles: 1 }),
    resultOf({ at: '2026-01-04T00:00:00.000Z', words: ['BENCH_OPERATIONS=10'] }),
  ]
  const [only, ...others] = publish(results)
  expect(others).toEqual([])
  expect(only).toMatchObject({ at: '2026-01-02T00:00:00.000Z', goals: { policies: 6 } })
  expect(cellsOf(withFigures(page, [only!]))).toContain('| 6.00 | at most 5 | **missed** |')
})

it('says of a goal without a result that it is not measured', () => {
  expect(cellsOf(withFigures(page, []))).toContain('| not measured | at most 5 | |')
  expect(withFigures(page, [])).toContain('- `npm run bench:policies`: no result of this version yet')
})
