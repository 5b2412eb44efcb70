import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Replaces a state file that was cut off while it was written, which would prevent the start, by the last complete copy.
 * The damaged file is kept under another name.
 */
export async function prepareState(statePath: string): Promise<void> {
  await mkdir(dirname(statePath), { recursive: true })
  await endOrphan(statePath)
  if (await isWholeState(statePath)) return await backUp(statePath)
  if (existsSync(statePath)) await rename(statePath, `${statePath}.damaged`)
  if (await isWholeState(backupOf(statePath))) await copyFile(backupOf(statePath), statePath)
}

const backupOf = (statePath: string) => `${statePath}.bak`
const backupEveryMilliseconds = 5_000

/** Copies the state repeatedly, each time only when it is complete; returns the function that ends that. */
export function keepBackup(statePath: string): () => Promise<void> {
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

const ownerOf = (statePath: string) => `${statePath}.pid`

/** Records which process writes the state, so that the next start can end it when its parent could not. */
export async function noteOwner(statePath: string, pid: number): Promise<void> {
  await writeFile(ownerOf(statePath), String(pid))
}

const orphanTimeoutMilliseconds = 5_000

/** A parent that was killed leaves its chain running; two chains on one state file would overwrite each other. */
async function endOrphan(statePath: string): Promise<void> {
  const pid = Number(await readFile(ownerOf(statePath), 'utf8').catch(() => '0'))
  // The process id may have been reused by another program, so the command line must name this very file.
  const isOrphan = () => pid > 1 && /anvil/.test(commandOf(pid)) && commandOf(pid).includes(statePath)
  if (!isOrphan()) return
  process.kill(pid, 'SIGINT')
  for (const deadline = Date.now() + orphanTimeoutMilliseconds; isOrphan(); await sleep(50)) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL')
  }
}

/** The command line of a process, empty when it has ended or the system does not report it. */
function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    if (process.platform === 'win32') return ''
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return ''
  }
}
