import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { tryDatabase } from './connection.ts'
import { clusterName, readPostmaster } from './postmaster.ts'
import { spawnProgram, toFailure, toLaunchError } from './programs.ts'
import { reachDirectory } from './reach.ts'

const POLL_MS = 10

/** The result of a start: a server that answers, or the log of a server that ended before. */
type LaunchResult = { pid: number; port: number } | { failure: string; retryable: boolean }

/**
 * Starts the server and waits until it answers, including crash recovery.
 * @throws Error when the program cannot be executed or the deadline (milliseconds since the epoch) passes.
 */
export async function launchPostgres(options: {
  dataDir: string
  clusterDir: string
  account: Account
  binaries: Binaries
  password: string
  fast: boolean
  deadline: number
}): Promise<LaunchResult> {
  const { clusterDir, account, binaries, password, deadline } = options
  const port = await findFreePort()
  const log = openLogFile(join(options.dataDir, 'postgres.log'))
  const reach = reachDirectory(clusterDir, account)
  try {
    const child = spawnProgram({
      program: binaries.postgres,
      args: ['-D', reach.path, '-p', String(port), ...settings(clusterDir, options.fast)],
      account,
      descriptors: reach.descriptors,
      output: log.descriptor,
    })
    let ended: { code: number | null } | null = null
    let launchError: Error | null = null
    child.on('exit', (code) => {
      ended = { code }
    })
    child.on('error', (cause) => {
      launchError = toLaunchError(binaries.postgres, cause)
    })
    // The server must not keep an otherwise idle process alive; the exit hook of the caller ends the server.
    child.unref()
    while (Date.now() < deadline) {
      if (launchError) throw launchError
      if (ended) {
        const text = log.readNew()
        return { failure: toFailure((ended as { code: number | null }).code, text), retryable: isRetryable(text) }
      }
      const postmaster = readPostmaster(clusterDir)
      if (postmaster?.ready && postmaster.pid === child.pid && (await tryDatabase(port, password)) === 'ready') {
        return { pid: postmaster.pid, port }
      }
      await sleep(POLL_MS)
    }
    child.kill('SIGINT')
    throw new Error(
      `PostgreSQL did not become ready in time: ${log.readNew().trim().split('\n').slice(-12).join('\n')}`,
    )
  } finally {
    reach.close()
    log.close()
  }
}

/**
 * Returns the settings on which safety and the detection of the server depend. On the command line they override
 * postgresql.conf. There is no unix socket, because its path may have at most 107 bytes and the path of a data directory may be
 * longer.
 */
function settings(clusterDir: string, fast: boolean): string[] {
  const durability = fast ? 'off' : 'on'
  const values: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    cluster_name: clusterName(clusterDir),
    'strongroom.starter': String(process.pid),
    password_encryption: 'scram-sha-256',
    logging_collector: 'off',
    log_destination: 'stderr',
    fsync: durability,
    full_page_writes: durability,
    synchronous_commit: durability,
    max_wal_size: '4GB',
    ...(fast
      ? { max_connections: '300', autovacuum: 'off', checkpoint_timeout: '1h' }
      : { checkpoint_timeout: '15min', shared_buffers: `${cacheMegabytes()}MB` }),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/**
 * Returns a quarter of the memory, as is usual, up to a gigabyte. Checkpoints happen every 4 GB or 15 minutes: the first change
 * of a page after a checkpoint writes the whole page to the log, which was most of the log with the default settings.
 */
function cacheMegabytes(): number {
  return Math.min(Math.max(Math.floor(totalmem() / 4 / 2 ** 20), 128), 1024)
}

/**
 * Returns true if a new start may succeed: another process took the port or started the same server meanwhile, or children of
 * the last server are still ending.
 */
function isRetryable(text: string): boolean {
  return retryable.some((message) => message.test(text))
}

const retryable = [
  /could not create any TCP\/IP sockets/i,
  /lock file "postmaster.pid" (already exists|is empty)/i,
  /pre-existing shared memory block/i,
  /address already in use/i,
]

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address && typeof address === 'object') return resolve(address.port)
        reject(new Error('The system gave no free port on 127.0.0.1.'))
      })
    })
  })
}

const LOG_BYTES_MAX = 10 * 1024 * 1024

/** The server's log, open for appending. `readNew` returns the text that was written since. */
type LogFile = { descriptor: number; readNew(): string; close(): void }

/** Opens the log. A large log is set aside first, and replaces the one that was set aside before. */
function openLogFile(path: string): LogFile {
  if (existsSync(path) && statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.1`)
  const descriptor = openSync(path, 'a+', 0o600)
  const start = fstatSync(descriptor).size
  return {
    descriptor,
    readNew: () => {
      const length = Math.min(fstatSync(descriptor).size - start, 64 * 1024)
      const bytes = Buffer.alloc(Math.max(length, 0))
      readSync(descriptor, bytes, 0, bytes.length, start)
      return bytes.toString('utf8')
    },
    close: () => closeSync(descriptor),
  }
}
