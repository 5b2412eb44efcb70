import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A PostgreSQL server process (its "postmaster") that serves one data directory. */
export type Postmaster = { pid: number; port: number; ready: boolean }

/**
 * Reads the server's own record, `postmaster.pid`: process id, data directory, start time, port, socket directory, address,
 * shared memory and state, one per line. Returns null when there is no complete record.
 */
export function readPostmaster(clusterDir: string): Postmaster | null {
  const text = readRecord(clusterDir)
  if (text === null) return null
  const lines = text.split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  if (!Number.isInteger(pid) || pid <= 0) return null
  return { pid, port: Number.isInteger(port) ? port : 0, ready: lines[7]?.trim() === 'ready' }
}

/** Returns the raw text of `postmaster.pid`, or null without that file. */
export function readRecord(clusterDir: string): string | null {
  try {
    return readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Returns the name under which every server is started. It is made from the identity of the directory on disk, so that it
 * distinguishes a server of this directory from a server of a copy of it, and from another process with the same id after a
 * restart.
 */
export function clusterName(clusterDir: string): string {
  const { dev, ino } = statSync(clusterDir, { bigint: true })
  return `strongroom-${dev}-${ino}`
}

/** Returns true if the process is alive and is the server of this directory, not another process with a reused id. */
export function servesCluster(pid: number, clusterDir: string): boolean {
  return readCommandLine(pid).includes(`cluster_name=${clusterName(clusterDir)}`)
}

/** Returns true if the Node.js process that started the server is alive. The system gives orphans another parent. */
export function hasStarter(pid: number): boolean {
  const starter = readCommandLine(pid).find((argument) => argument.startsWith('strongroom.starter='))
  return starter === `strongroom.starter=${readParent(pid)}`
}

function readCommandLine(pid: number): string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
  } catch {
    return []
  }
}

function readParent(pid: number): number {
  try {
    if (process.platform !== 'linux') {
      return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }))
    }
    // The second field is the program's name in brackets and may hold anything, so fields are counted from its end.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return -1
  }
}
