import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publish, withFigures } from './lib/figures.ts'
import type { Result } from './lib/record.ts'

/**
 * Publishes the results in bench/results: copies the newest result of each program to bench/figures, and writes the
 * figures of docs/performance.md. A program without a new result keeps its published result; `--forget` first drops the
 * published results.
 */
const [resultsDir, figuresDir, page] = ['bench/results', 'bench/figures', 'docs/performance.md']
const filesOf = (directory: string) =>
  existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.json')) : []
const read = (directory: string) =>
  filesOf(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')))

if (process.argv.includes('--forget')) for (const name of filesOf(figuresDir)) rmSync(join(figuresDir, name))
mkdirSync(figuresDir, { recursive: true })
for (const result of publish(read(resultsDir) as Result[])) {
  const name = [result.program, ...result.words].join(' ').replaceAll(/[^a-z0-9]+/g, '-')
  writeFileSync(join(figuresDir, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`)
}
writeFileSync(page, withFigures(readFileSync(page, 'utf8'), read(figuresDir)))
