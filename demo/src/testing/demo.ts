import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Hex } from 'viem'
import { coins, hasNodes } from '../coins.ts'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

export type Demo = {
  process: ChildProcess
  output(): string
  /** The origin of the server. */
  url: string
  /** The link that signs the administrator in. */
  link: string
  rpcUrl: string
  /** The address of the treasurer on the chain. */
  address: Hex
}

/** Starts the same parts as `npm start`, on a free port unless the settings name one. Returns before they are ready. */
export function launchDemo(settings: NodeJS.ProcessEnv & { DATA_DIR: string }): {
  child: ChildProcess
  output(): string
} {
  // The suite's own settings, such as DATABASE_URL, must not reach the demo.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', ...settings }
  const child = spawn(process.execPath, [join(root, 'tools/start/start.js')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return { child, output: () => output }
}

/**
 * Resolves when the demo, its protected vault, the vault on local nodes and the company of SSO_DEMO report that they are ready. The
 * nodes are left out unless they are wanted, so that other tests find the same vaults on every machine.
 */
export async function startDemo(dataDir: string, { withNodes = false, withCompany = false } = {}): Promise<Demo> {
  const settings = { ...(withNodes ? {} : { LITECOIND: '/nowhere' }), ...(withCompany ? { SSO_DEMO: 'on' } : {}) }
  const { child, output } = launchDemo({ DATA_DIR: dataDir, ...settings })
  const expected = [
    /the protected vault reserve is ready/,
    /Bitcoin and Litecoin are left out|the vault deposits is ready/,
    ...(withCompany ? [/the company is ready/] : []),
  ]
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the demo ended: ${output()}`)
    if (/is not ready/.test(output())) throw new Error(output())
    return expected.every((line) => line.test(output()))
  })
  const field = (name: string) => new RegExp(`^  ${name} +(\\S+)`, 'm').exec(output())![1]!
  return {
    process: child,
    output,
    url: new URL(field('API')).origin,
    link: field('Sign in'),
    rpcUrl: field('Chain').replace(/,$/, ''),
    address: field('Operations') as Hex,
  }
}

export function pidOf(dataDir: string, name: string): number | null {
  const text = readIfThere(join(dataDir, 'run', `${name}.json`))
  return text === null ? null : (JSON.parse(text) as { pid: number }).pid
}

export function postgresPid(dataDir: string): number | null {
  const text = readIfThere(join(dataDir, 'postgres', 'postmaster.pid'))
  return text === null ? null : Number(text.split('\n')[0])
}

/**
 * Returns null for a missing file. A process that ends may remove its file at any moment, even after a check that the
 * file exists.
 */
function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const nodes = hasNodes ? coins.map(({ network }) => network) : []
const names = ['supervisor', 'server', 'wallet', 'chain', ...nodes]
/** The number of processes of a demo without a company, with PostgreSQL. */
export const processCount = names.length + 1

/** Returns the ids of the running processes among supervisor, company, server, wallet, chain, nodes and PostgreSQL. */
export function livingPids(dataDir: string): number[] {
  const parts = [...names, 'company'].map((name) => pidOf(dataDir, name))
  return [...parts, postgresPid(dataDir)].filter((pid) => pid !== null).filter(isAlive)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 150_000
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error('The condition was not met within 150 s')
    await sleep(50)
  }
}
