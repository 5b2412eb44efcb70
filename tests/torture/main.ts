import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { planBlows, torture } from './torture.ts'

/**
 * `npm run torture -- --cycles 200 --seed 7`: exits with 1 at the first violation, and prints the seed. `--from 101` begins
 * with that cycle of the plan.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { cycles: { type: 'string' }, seed: { type: 'string' }, from: { type: 'string' } },
  })
  const cycles = readNumber('--cycles', values.cycles ?? '200')
  const seed = readNumber('--seed', values.seed ?? `${Math.floor(Math.random() * 2 ** 31)}`)
  const from = readNumber('--from', values.from ?? '1')
  // PostgreSQL, the node and their folder are ended and removed by the processes that watch this one.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  print(`Cycles ${from} to ${cycles} with seed ${seed}`)
  try {
    const blows = planBlows(cycles, seed).slice(from - 1)
    const result = await torture({ serverDir: join(process.cwd(), 'server'), seed, blows, print })
    print(
      `No violation in ${result.cycles} cycles and ${result.seconds.toFixed(0)} s: ${result.deposits} deposits,` +
        ` ${result.transfers} transfers and ${result.votes} votes were acknowledged and are there once,` +
        ` ${result.broadcasts} broadcasts; ${result.unanswered} times no answer came, ${result.repeated} answers were` +
        ` the same when asked again.`,
    )
  } catch (error) {
    process.stderr.write(`Violation with seed ${seed}: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}

function readNumber(name: string, text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 1) return number
  process.stderr.write(`${name} must be a whole number from 1, not "${text}"\n`)
  process.exit(2)
}

await main()
