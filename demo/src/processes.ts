import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CoinNetwork, coins } from './coins.ts'
import { readJson, writeJson } from './data-files.ts'

/** The processes that run for a data directory and are recorded there. PostgreSQL keeps its own record. */
export type ProcessName = 'supervisor' | 'company' | 'server' | 'wallet' | 'chain' | CoinNetwork

/** `identity` distinguishes a process from a later process with the same id. */
type ProcessRecord = { pid: number; identity: string }

const pollMilliseconds = 20

const recordPath = (dataDir: string, name: ProcessName) => join(dataDir, 'run', `${name}.json`)

/**
 * Records this process as the one that runs the data directory.
 * @throws Error if another process runs it
 */
export function claimDataDir(dataDir: string): void {
  const path = recordPath(dataDir, 'supervisor')
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 })
  const record = `${JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) })}\n`
  for (;;) {
    try {
      writeFileSync(path, record, { mode: 0o600, flag: 'wx' })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = findRecorded(dataDir, 'supervisor')
    if (holder !== null) {
      throw new Error(`process ${holder} already runs Strongroom in ${dataDir}; stop it or choose another DATA_DIR`)
    }
    rmSync(path, { force: true })
  }
}

export function recordProcess(dataDir: string, name: ProcessName, pid: number): void {
  writeJson(recordPath(dataDir, name), { pid, identity: identityOf(pid) })
}

export function forgetProcess(dataDir: string, name: ProcessName): void {
  rmSync(recordPath(dataDir, name), { force: true })
}

/** Ends the processes of an earlier run that was killed. The chains end last, and write their state. */
export async function endOrphans(dataDir: string): Promise<void> {
  await Promise.all((['company', 'server', 'wallet'] as const).map((name) => endRecorded(dataDir, name, 'SIGTERM')))
  await Promise.all([
    endRecorded(dataDir, 'chain', 'SIGINT'),
    ...coins.map(({ network }) => endRecorded(dataDir, network, 'SIGTERM')),
  ])
}

async function endRecorded(dataDir: string, name: ProcessName, signal: NodeJS.Signals): Promise<void> {
  const pid = findRecorded(dataDir, name)
  if (pid !== null) {
    await endProcess(pid, signal, 4_000)
  }
  forgetProcess(dataDir, name)
}

/** Signals a process to end and kills it after a time. `identityOf` prevents killing another process with a reused id. */
async function endProcess(pid: number, signal: NodeJS.Signals, patienceMilliseconds: number): Promise<void> {
  const identity = identityOf(pid)
  if (identity === null) return
  const isThere = () => identityOf(pid) === identity
  const deadline = Date.now() + patienceMilliseconds
  sendSignal(pid, signal)
  while (isThere()) {
    if (Date.now() > deadline) {
      sendSignal(pid, 'SIGKILL')
      // Killing takes milliseconds, unless the process hangs in the kernel, where waiting would not help.
      for (let i = 0; i < 50 && isThere(); i += 1) await sleep(pollMilliseconds)
      return
    }
    await sleep(pollMilliseconds)
  }
}

/**
 * Waits briefly until an ended child has left the process table. The first process of a container often does not reap
 * others, so that the child would stay there. The wait for a process that is not a child of this process is no longer.
 */
export async function waitUntilReaped(pid: number): Promise<void> {
  for (let i = 0; i < 10 && isInTable(pid); i += 1) await sleep(pollMilliseconds)
}

function isInTable(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Returns the id of the recorded process if it is still running and is the same process. */
function findRecorded(dataDir: string, name: ProcessName): number | null {
  // A crash of the machine may leave a partial record. Its process ended with the crash, too.
  const record = readRecord(recordPath(dataDir, name))
  return record !== null && identityOf(record.pid) === record.identity ? record.pid : null
}

function readRecord(path: string): ProcessRecord | null {
  try {
    return readJson<ProcessRecord>(path)
  } catch {
    return null
  }
}

/** Returns the start time and the command line of a running process, or null. */
export function identityOf(pid: number): string | null {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-ww', '-o', 'lstart=,command=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    }
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    // A process that has ended and was not reaped yet has no command line any more.
    if (command === '') return null
    // The second field is the program's name in brackets and may contain anything, so fields are counted after it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${startTicks} ${command}`
  } catch {
    return null
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
