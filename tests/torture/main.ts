import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tortureCluster } from './cluster/cluster.ts'
import { controls, runControl } from './cluster/controls.ts'
import { faults } from './cluster/faults.ts'
import { planFlightBlows, tortureInFlight } from './flight/flight.ts'
import { planBlows, torture } from './torture.ts'

/**
 * `npm run torture -- --cycles 200 --seed 7` exits with 1 at the first violation, and prints the seed. `--from 101`
 * begins with cycle 101 of the plan. `--in-flight 200` uses the reference wallet, and keeps 200 transfers in flight.
 * `--cluster` runs on three PostgreSQL machines under Patroni, behind HAProxy. `--control shipped` removes one
 * protection of the cluster; the run must then lose something.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      cycles: { type: 'string' },
      seed: { type: 'string' },
      from: { type: 'string' },
      'in-flight': { type: 'string' },
      cluster: { type: 'boolean' },
      control: { type: 'string' },
    },
  })
  const cycles = readNumber('--cycles', values.cycles ?? '200')
  const seed = readNumber('--seed', values.seed ?? `${Math.floor(Math.random() * 2 ** 31)}`)
  const from = readNumber('--from', values.from ?? '1')
  // Processes that watch this process end PostgreSQL and the node, and remove their folder.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  if (values.control === undefined) print(`Cycles ${from} to ${cycles} with seed ${seed}`)
  try {
    if (values.control !== undefined) await runWithout(values.control, seed)
    else if (values.cluster === true) await runCluster({ cycles, seed, from })
    else if (values['in-flight'] === undefined) await run({ cycles, seed, from })
    else await runInFlight({ cycles, seed, from, inFlight: readNumber('--in-flight', values['in-flight']) })
  } catch (error) {
    process.stderr.write(`Violation with seed ${seed}: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}

type Plan = { cycles: number; seed: number; from: number }
const serverDir = join(process.cwd(), 'server')

async function run({ cycles, seed, from }: Plan): Promise<void> {
  const result = await torture({ serverDir, seed, blows: planBlows(cycles, seed).slice(from - 1), print })
  print(
    `No violation in ${result.cycles} cycles and ${result.seconds.toFixed(0)} s: ${result.deposits} deposits,` +
      ` ${result.transfers} transfers and ${result.votes} votes were acknowledged and are there once,` +
      ` ${result.broadcasts} broadcasts; ${result.unanswered} times no answer came, ${result.repeated} answers were` +
      ` the same when asked again.`,
  )
}

async function runInFlight({ cycles, seed, from, inFlight }: Plan & { inFlight: number }): Promise<void> {
  const walletDir = join(process.cwd(), 'wallet')
  const blows = planFlightBlows(cycles, seed).slice(from - 1)
  const result = await tortureInFlight({ serverDir, walletDir, seed, blows, inFlight, print })
  print(
    `No violation in ${result.cycles} cycles and ${result.seconds.toFixed(0)} s, with ${result.inFlight.join(' to ')} in` +
      ` flight at each blow: ${result.transfers} transfers and ${result.votes} votes were acknowledged and are there once,` +
      ` ${result.payments} payments and ${result.deposits} deposits are on the chain and in the ledger once;` +
      ` ${result.unanswered} times no answer came, ${result.repeated} answers were the same when asked again.`,
  )
}

const clusterOptions = {
  serverDir,
  walletDir: join(process.cwd(), 'wallet'),
  patch: join(process.cwd(), 'tests/torture/cluster/patroni-3.0.2.patch'),
  renderScript: join(process.cwd(), 'deploy/linux/cluster/render.sh'),
  print,
}

async function runCluster({ cycles, seed, from }: Plan): Promise<void> {
  const plan = Array.from({ length: cycles }, (_, index) => faults[index % faults.length]!).slice(from - 1)
  const result = await tortureCluster({ ...clusterOptions, seed, faults: plan })
  print(
    `No violation in ${result.cycles.length} cycles: ${result.transfers} transfers and ${result.votes} votes were acknowledged and` +
      ` are there once, ${result.payments} payments and ${result.deposits} deposits are on the chain and in the ledger once.`,
  )
}

async function runWithout(name: string, seed: number): Promise<void> {
  if (!(name in controls)) throw new Error(`--control is ${Object.keys(controls).join(', ')}, not "${name}"`)
  const control = name as keyof typeof controls
  const violation = await runControl(control, { ...clusterOptions, seed })
  print(`It loses with ${controls[control].about}, as it must: ${violation.message}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function readNumber(name: string, text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 1) return number
  process.stderr.write(`${name} must be a whole number from 1, not "${text}"\n`)
  process.exit(2)
}

await main()
