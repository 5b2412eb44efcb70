import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type AnvilOptions = {
  /** 0 or absent picks a free port. */
  port?: number
  /** File in which the chain outlives the process; written every second. Without it the chain is new at every start. */
  statePath?: string
  /** Default 31337. */
  chainId?: number
}

export type Anvil = {
  rpcUrl: string
  chainId: number
  pid: number
  /** Ends the process; with `statePath` it writes the state first. */
  stop(): Promise<void>
}

/**
 * Starts a local chain that mines every transaction at once; resolves when it answers. It spawns the platform's binary
 * itself, because ending the npm wrapper would leave the chain running.
 */
export async function startAnvil({ port = 0, statePath, chainId = 31337 }: AnvilOptions = {}): Promise<Anvil> {
  const binary = findAnvilBinary()
  if (statePath) await prepareState(statePath)
  const chosenPort = port === 0 ? await findFreePort() : port
  const state = statePath ? ['--state', statePath, '--state-interval', '1', '--preserve-historical-states'] : []
  const child = spawn(
    binary,
    ['--host', '127.0.0.1', '--port', String(chosenPort), '--chain-id', String(chainId), '--quiet', ...state],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  child.once('exit', () => process.off('exit', killWithParent))
  const rpcUrl = `http://127.0.0.1:${chosenPort}`
  await waitUntilAnswering(child, rpcUrl)
  const stopBackups = statePath ? keepBackup(statePath) : async () => undefined
  return {
    rpcUrl,
    chainId,
    pid: child.pid!,
    async stop() {
      await end(child)
      await stopBackups()
    },
  }
}

const platforms: Record<string, string> = { linux: 'linux', darwin: 'darwin', win32: 'win32' }
const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }

function findAnvilBinary(): string {
  const { platform, arch } = process
  const name = `@foundry-rs/anvil-${platforms[platform]}-${architectures[arch]}`
  try {
    // The platform's package is a dependency of the wrapper, so it is looked up from there.
    const fromWrapper = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
    return fromWrapper.resolve(`${name}/bin/anvil${platform === 'win32' ? '.exe' : ''}`)
  } catch (cause) {
    const message = `The local chain needs the package ${name}, which is not installed. Install with optional dependencies, or configure the URL of another node.`
    throw new Error(message, { cause })
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const startTimeoutMilliseconds = 20_000

async function waitUntilAnswering(child: ChildProcess, rpcUrl: string): Promise<void> {
  let output = ''
  child.stderr?.on('data', (chunk) => {
    output = (output + chunk).slice(-2000)
  })
  const deadline = Date.now() + startTimeoutMilliseconds
  let spawnError: Error | undefined
  child.once('error', (error) => {
    spawnError = error
  })
  while (Date.now() < deadline) {
    if (spawnError) throw new Error(`anvil could not be started: ${spawnError.message}`)
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`anvil ended at its start: ${output.trim()}`)
    if (await isAnswering(rpcUrl)) return
    await sleep(25)
  }
  await end(child)
  throw new Error(`anvil does not answer after ${startTimeoutMilliseconds} ms: ${output.trim()}`)
}

async function isAnswering(rpcUrl: string): Promise<boolean> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
    signal: AbortSignal.timeout(1000),
  }
  return await fetch(rpcUrl, request).then(
    (response) => response.ok,
    () => false,
  )
}

const stopTimeoutMilliseconds = 5_000

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMilliseconds)
  await ended
  clearTimeout(timer)
}

/**
 * A state file that was cut off while it was written would stop the start. The last good copy then takes its place, and the
 * damaged file is kept aside.
 */
async function prepareState(statePath: string): Promise<void> {
  await mkdir(dirname(statePath), { recursive: true })
  if (await isWholeState(statePath)) return await backUp(statePath)
  if (existsSync(statePath)) await rename(statePath, `${statePath}.damaged`)
  if (await isWholeState(backupOf(statePath))) await copyFile(backupOf(statePath), statePath)
}

const backupOf = (statePath: string) => `${statePath}.bak`
const backupEveryMilliseconds = 5_000

/** Copies the state aside again and again, each time only when it is whole; returns what ends that. */
function keepBackup(statePath: string): () => Promise<void> {
  let copiedAt = 0
  let running: Promise<void> = Promise.resolve()
  async function copyIfChanged() {
    const changedAt = await stat(statePath).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
    if (changedAt <= copiedAt || !(await isWholeState(statePath))) return
    await backUp(statePath)
    copiedAt = changedAt
  }
  const next = () => {
    running = running.then(copyIfChanged).catch(() => undefined)
  }
  const timer = setInterval(next, backupEveryMilliseconds)
  timer.unref()
  return async () => {
    clearInterval(timer)
    next()
    await running
  }
}

async function backUp(statePath: string): Promise<void> {
  const draft = `${backupOf(statePath)}.new`
  await copyFile(statePath, draft)
  // The copy is checked too: the chain may have been writing while it was made.
  if (await isWholeState(draft)) await rename(draft, backupOf(statePath))
}

async function isWholeState(file: string): Promise<boolean> {
  try {
    const state: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof state === 'object' && state !== null && 'accounts' in state
  } catch {
    return false
  }
}
