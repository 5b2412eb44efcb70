import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { keepBackup, noteOwner, prepareState } from './anvil-state.ts'

type AnvilOptions = {
  /** 0 or absent picks a free port. */
  port?: number
  /** File in which the chain survives the process; written every second. Without it the chain is new at every start. */
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
  const state = statePath ? ['--state', statePath, '--state-interval', '1'] : []
  // The chain picks a free port itself: one picked for it could be taken by the time it listens.
  const args = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), ...state]
  // A process group of its own: Ctrl-C in a terminal must reach the parent process, so that the chain ends last and saves.
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  child.once('exit', () => process.off('exit', killWithParent))
  const rpcUrl = `http://127.0.0.1:${await waitForPort(child)}`
  if (statePath) await noteOwner(statePath, child.pid!)
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
    const message =
      `The local chain needs the package ${name}, which is not installed. Install with optional ` +
      'dependencies, or configure the URL of another node.'
    throw new Error(message, { cause })
  }
}

const startTimeoutMilliseconds = 20_000

/** Reads the port from the line that the chain prints once it listens; its later output is discarded. */
async function waitForPort(child: ChildProcess): Promise<number> {
  return await new Promise((resolve, reject) => {
    let printed = ''
    let faults = ''
    const fail = (why: string) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`The local chain could not be started: ${why} ${faults.trim()}`.trim()))
    }
    const timer = setTimeout(
      () => fail(`it does not listen after ${startTimeoutMilliseconds} ms.`),
      startTimeoutMilliseconds,
    )
    const read = (chunk: Buffer) => {
      printed = (printed + chunk).slice(-2000)
      const port = /Listening on \S+:(\d+)/.exec(printed)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      child.stdout?.off('data', read).resume()
      resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', (chunk) => {
      faults = (faults + chunk).slice(-2000)
    })
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => fail(`it ended with the code ${code}.`))
  })
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
