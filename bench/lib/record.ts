import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type GoalKey, goals, isMet } from './goals.ts'
import { type Series, toSeries } from './rounds.ts'

type Figure = { name: string; unit: string } & Series
type Measured = { key: GoalKey; value: number; of: string }
type Sql = (text: string) => Promise<object[]>

/** The results of a run, printed as they arrive. */
export type BenchRecord = {
  figures: Figure[]
  measured: Measured[]
  /** Settings of the measured PostgreSQL. */
  settings: Record<string, string>
  /** @returns the median */
  add(name: string, unit: string, series: Series | number): number
  /** `of` names the measured part, if the goal has several. */
  expect(key: GoalKey, value: number, of?: string): void
  noteSettings(sql: Sql): Promise<void>
}

export function createRecord(): BenchRecord {
  const figures: Figure[] = []
  const measured: Measured[] = []
  const settings: Record<string, string> = {}
  return {
    figures,
    measured,
    settings,
    add(name, unit, series) {
      const figure = { name, unit, ...(typeof series === 'number' ? toSeries([series]) : series) }
      figures.push(figure)
      const range = figure.values.length === 1 ? '' : `   (${show(figure.min)} to ${show(figure.max)})`
      console.log(`${name.padEnd(64)} ${show(figure.median).padStart(10)} ${unit}${range}`)
      return figure.median
    },
    expect(key, value, of = '') {
      measured.push({ key, value, of })
    },
    async noteSettings(sql) {
      for (const name of settingNames) {
        const [row] = (await sql(`select current_setting('${name}') as value`)) as { value: string }[]
        settings[name] = row!.value
      }
      if (settings.fsync !== 'on' || settings.synchronous_commit !== 'on')
        throw new Error('The database may lose commits')
    },
  }
}

/** @returns true if all goals were met */
export function printGoals({ measured }: BenchRecord): boolean {
  if (measured.length > 0) console.log('\nGoals')
  for (const { key, value, of } of measured) {
    const { name, bound, goal } = goals[key]
    const verdict = isMet(goals[key], value) ? 'met' : `MISSED by ${show(Math.abs(value - goal))}`
    console.log(
      `${(of === '' ? name : `${name} (${of})`).padEnd(90)} ${show(value).padStart(10)}  ${bound} ${goal}: ${verdict}`,
    )
  }
  return measured.every(({ key, value }) => isMet(goals[key], value))
}

/** The result of a program, as `npm run bench:figures` reads it. */
export type Result = ReturnType<typeof toResult>
type Circumstances = { program: string; words: string[]; loadBefore: number; minutes: number }

function toResult(record: BenchRecord, { program, words, loadBefore, minutes }: Circumstances) {
  return {
    program,
    // The arguments after the program's name. A run without arguments is the whole measurement, and its figures may be
    // published.
    words,
    at: new Date().toISOString(),
    revision: git('rev-parse', 'HEAD'),
    changedFiles: git('status', '--porcelain').split('\n').filter(Boolean).length,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryMegabytes: Math.round(totalmem() / 2 ** 20),
      kernel: release(),
      // The load of other programs, which affects the results.
      loadAverageBefore: loadBefore,
      loadAverageAfter: loadavg()[0]!,
    },
    versions: { node: process.version, postgres: record.settings.server_version ?? null },
    minutes,
    settings: record.settings,
    goals: record.measured,
    figures: record.figures,
  }
}

/** Writes `bench/results/<program>-<date>.json` and returns its path. */
export function writeResult(record: BenchRecord, circumstances: Circumstances): string {
  const result = toResult(record, circumstances)
  mkdirSync('bench/results', { recursive: true })
  const path = join('bench/results', `${result.program}-${result.at.slice(0, 19).replaceAll(':', '')}.json`)
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`)
  return path
}

const settingNames = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_compression',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
  'jit',
]

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}

export function show(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}
