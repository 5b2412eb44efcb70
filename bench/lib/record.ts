import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Series, toSeries } from './rounds.ts'
import type { Stack } from './stack.ts'

type Figure = { name: string; unit: string } & Series
type Goal = { name: string; value: number; bound: 'at least' | 'at most'; goal: number; isMet: boolean }

/** The results of a run, printed as they arrive. */
export type BenchRecord = {
  figures: Figure[]
  goals: Goal[]
  add(name: string, unit: string, series: Series | number): number
  expect(name: string, value: number, bound: Goal['bound'], goal: number): void
}

export function createRecord(): BenchRecord {
  const figures: Figure[] = []
  const goals: Goal[] = []
  return {
    figures,
    goals,
    /** @returns the median */
    add(name, unit, series) {
      const figure = { name, unit, ...(typeof series === 'number' ? toSeries([series]) : series) }
      figures.push(figure)
      const range = figure.values.length === 1 ? '' : `   (${show(figure.min)} to ${show(figure.max)})`
      console.log(`${name.padEnd(64)} ${show(figure.median).padStart(10)} ${unit}${range}`)
      return figure.median
    },
    expect(name, value, bound, goal) {
      goals.push({ name, value, bound, goal, isMet: bound === 'at least' ? value >= goal : value <= goal })
    },
  }
}

export function printGoals(record: BenchRecord): void {
  console.log('\nGoals')
  for (const { name, value, bound, goal, isMet } of record.goals) {
    const verdict = isMet ? 'met' : `MISSED by ${show(Math.abs(value - goal))}`
    console.log(`${name.padEnd(64)} ${show(value).padStart(10)}  ${bound} ${goal}: ${verdict}`)
  }
}

/** Writes `bench/results/<date>.json` and returns its path. */
export async function writeRecord(
  record: BenchRecord,
  stack: Stack,
  run: { loadBefore: number; minutes: number; options: object },
): Promise<string> {
  const settings: Record<string, string> = {}
  for (const name of settingNames)
    settings[name] = (await stack.sql<{ value: string }>(`select current_setting('${name}') as value`))[0]!.value
  if (settings.fsync !== 'on' || settings.synchronous_commit !== 'on') throw new Error('The database may forget')
  const now = new Date().toISOString()
  const content = {
    at: now,
    revision: git('rev-parse', 'HEAD'),
    changedFiles: git('status', '--porcelain').split('\n').filter(Boolean).length,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryMegabytes: Math.round(totalmem() / 2 ** 20),
      kernel: release(),
      // Load of other programs, which affects the results.
      loadAverageBefore: run.loadBefore,
      loadAverageAfter: loadavg()[0],
    },
    versions: { node: process.version, postgres: settings.server_version },
    settings,
    minutes: run.minutes,
    options: run.options,
    goals: record.goals,
    figures: record.figures,
  }
  mkdirSync('bench/results', { recursive: true })
  const path = join('bench/results', `${now.slice(0, 16).replace(':', '')}.json`)
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`)
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

function show(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}
