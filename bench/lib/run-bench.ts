import { loadavg } from 'node:os'
import { basename } from 'node:path'
import { type BenchRecord, createRecord, printGoals, writeResult } from './record.ts'
import { type Stack, startStack } from './stack.ts'

/** Runs a program of the bench: prints figures and goals, writes the result, and ends with 1 when a goal is missed. */
export async function runBench(measure: (record: BenchRecord) => Promise<void>): Promise<void> {
  const startedAt = Date.now()
  const loadBefore = loadavg()[0]!
  const record = createRecord()
  await measure(record)
  if (!printGoals(record)) process.exitCode = 1
  const minutes = (Date.now() - startedAt) / 60_000
  const words = [...process.argv.slice(2), ...benchVariables()]
  const program = basename(process.argv[1]!, '.js')
  console.log(`\nWritten to ${writeResult(record, { program, words, loadBefore, minutes })}`)
}

/** Runs a program of the bench on its own PostgreSQL and node. */
export function runOnStack(measure: (bench: { record: BenchRecord; stack: Stack }) => Promise<void>): Promise<void> {
  return runBench(async (record) => {
    const stack = await startStack()
    try {
      await record.noteSettings(stack.sql)
      await measure({ record, stack })
    } finally {
      await stack.stop()
    }
  })
}

/** Returns the sizes that the environment sets. */
const benchVariables = () =>
  Object.entries(process.env)
    .filter(([name]) => /^(BENCH_(?!KEEP)|REPORT_BENCH_)/.test(name))
    .map(([name, value]) => `${name}=${value}`)
