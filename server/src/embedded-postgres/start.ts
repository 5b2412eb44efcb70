import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Account, chooseAccount } from './account.ts'
import { type Binaries, prepareBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { toUrl, tryDatabase } from './connection.ts'
import { launchPostgres } from './launch.ts'
import { ensurePassword, findPassword } from './password.ts'
import { hasStarter, type Postmaster, readPostmaster, readRecord, servesCluster } from './postmaster.ts'

/**
 * A running embedded server. `stop` ends it and waits, and may be called again. `died` resolves when the server has ended
 * without a call of `stop`.
 */
export type EmbeddedPostgres = { url: string; port: number; pid: number; died: Promise<void>; stop(): Promise<void> }

const START_MS = 60_000
const RETRY_MS = 100
const WATCH_MS = 500

/**
 * Starts the PostgreSQL that comes with the package, with its data in `<dataDir>/postgres`, on a free port of the loopback
 * address. A server that an earlier process left behind is taken over, and `stop` then ends it. A server whose own process
 * still lives is shared, and `stop` leaves it to that process.
 *
 * `fast` is for tests: data does not survive a crash of the machine. `packageDir` names another place of the programs.
 * @throws Error with one sentence, and the end of `postgres.log` when the server ended while starting.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log?: (message: string) => void
  fast?: boolean
  packageDir?: string
}): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  const clusterDir = join(dataDir, 'postgres')
  const log = options.log ?? (() => {})
  const fast = options.fast ?? false
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const account = chooseAccount(clusterDir)
  if (account.switched && process.platform !== 'linux') {
    throw new Error('PostgreSQL refuses to run as root; start as an ordinary user or set DATABASE_URL.')
  }
  const deadline = Date.now() + START_MS

  const running = await findRunning(dataDir, deadline)
  if (running) return adopt(clusterDir, running, log)

  const binaries = prepareBinaries({ account, dataDir, packageDir: options.packageDir })
  const { password, created } = await ensureCluster({ dataDir, clusterDir, account, binaries, fast })
  if (created) log(`Made a new PostgreSQL ${binaries.major} data directory in ${clusterDir}.`)
  return launchUntilReady({ dataDir, clusterDir, account, binaries, password, fast, deadline, log })
}

/** Returns the URL of the embedded server of this data directory when one is running, or null. It starts nothing. */
export async function connectEmbeddedPostgres(dataDir: string): Promise<string | null> {
  const running = await findRunning(resolve(dataDir), Date.now() + START_MS)
  return running ? running.url : null
}

/**
 * Returns the URL by which the running service connects: a role of its own, whose password is created once in `dataDir`. A
 * process that owns the database creates the role.
 */
export function toServiceUrl(dataDir: string, url: string): string {
  const service = new URL(url)
  service.username = 'strongroom_service'
  service.password = ensurePassword(resolve(dataDir), 'postgres-service-password')
  return service.href
}

type Running = { pid: number; port: number; url: string }

/** Looks for a live server of the directory and waits for it while it starts or ends. */
async function findRunning(dataDir: string, deadline: number): Promise<Running | null> {
  const clusterDir = join(dataDir, 'postgres')
  const password = findPassword(dataDir)
  if (!password || !existsSync(clusterDir)) return null
  while (Date.now() < deadline) {
    const postmaster = readPostmaster(clusterDir)
    if (!postmaster || !servesCluster(postmaster.pid, clusterDir)) return null
    if (await answers(postmaster, password, clusterDir)) {
      return { pid: postmaster.pid, port: postmaster.port, url: toUrl(postmaster.port, password) }
    }
    await sleep(RETRY_MS / 5)
  }
  throw new Error(`The PostgreSQL server of ${clusterDir} runs but does not answer; stop it and start again.`)
}

async function answers(postmaster: Postmaster, password: string, clusterDir: string): Promise<boolean> {
  try {
    return postmaster.ready && (await tryDatabase(postmaster.port, password)) === 'ready'
  } catch (cause) {
    throw new Error(
      `The PostgreSQL server of ${clusterDir} (process ${postmaster.pid}) refuses our password or database: ` +
        `${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
}

function adopt(clusterDir: string, running: Running, log: (message: string) => void): EmbeddedPostgres {
  if (hasStarter(running.pid)) {
    log(`Sharing the PostgreSQL server on port ${running.port} with the process that started it.`)
    const { died, dismiss } = watchPostmaster(running.pid, clusterDir)
    return { ...running, died, stop: async () => dismiss() }
  }
  log(`Took over the PostgreSQL server on port ${running.port} that an earlier process left running.`)
  return toHandle(clusterDir, running)
}

async function launchUntilReady(options: {
  dataDir: string
  clusterDir: string
  account: Account
  binaries: Binaries
  password: string
  fast: boolean
  deadline: number
  log: (message: string) => void
}): Promise<EmbeddedPostgres> {
  const { dataDir, clusterDir, deadline, log } = options
  for (;;) {
    removeStaleRecord(clusterDir)
    const result = await launchPostgres(options)
    if ('pid' in result) {
      log(`PostgreSQL is ready on 127.0.0.1:${result.port}.`)
      return toHandle(clusterDir, { ...result, url: toUrl(result.port, options.password) })
    }
    const running = await findRunning(dataDir, deadline)
    if (running) return adopt(clusterDir, running, log)
    if (!result.retryable || Date.now() > deadline) {
      throw new Error(`PostgreSQL did not start: ${result.failure}`)
    }
    await sleep(RETRY_MS)
  }
}

/**
 * Removes the record of a server that no longer runs. After a crash the record may name a process id that now belongs to
 * another process, which is usual in a restarted container, and PostgreSQL would refuse to start. If a server of this directory
 * is alive nevertheless, PostgreSQL detects its shared memory and refuses to start.
 */
function removeStaleRecord(clusterDir: string): void {
  const before = readRecord(clusterDir)
  const postmaster = readPostmaster(clusterDir)
  if (before === null || (postmaster && servesCluster(postmaster.pid, clusterDir))) return
  if (readRecord(clusterDir) === before) rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
}

function toHandle(clusterDir: string, running: Running): EmbeddedPostgres {
  // A process that ends without a call of `stop` still asks the server to end, although it cannot wait for it.
  const endWithUs = () => {
    if (servesCluster(running.pid, clusterDir)) signalIfThere(running.pid, 'SIGINT')
  }
  process.once('exit', endWithUs)
  const { died, dismiss } = watchPostmaster(running.pid, clusterDir)
  let stopping: Promise<void> | null = null
  return {
    ...running,
    died,
    stop: () => {
      dismiss()
      stopping ??= stopPostmaster(running.pid, clusterDir).finally(() => process.off('exit', endWithUs))
      return stopping
    },
  }
}

/** Watches a server by its process id, because it may not be a child of this process. */
function watchPostmaster(pid: number, clusterDir: string): { died: Promise<void>; dismiss(): void } {
  let timer: NodeJS.Timeout | undefined
  const died = new Promise<void>((resolve) => {
    timer = setInterval(() => {
      if (servesCluster(pid, clusterDir)) return
      clearInterval(timer)
      resolve()
    }, WATCH_MS)
    timer.unref()
  })
  return { died, dismiss: () => clearInterval(timer) }
}

const POLL_MS = 10
const FAST_STOP_MS = 30_000
const IMMEDIATE_STOP_MS = 10_000

/**
 * Stops the server of the directory as `pg_ctl stop -m fast` does: sessions are ended, and all data is written. If it hangs, it
 * is ordered to quit at once. That requires a recovery at the next start but loses no committed data.
 */
async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  if (await signalAndWait(pid, clusterDir, 'SIGINT', FAST_STOP_MS)) return
  if (await signalAndWait(pid, clusterDir, 'SIGQUIT', IMMEDIATE_STOP_MS)) return
  throw new Error(`PostgreSQL (process ${pid}) does not stop; see postgres.log beside its data directory.`)
}

async function signalAndWait(pid: number, clusterDir: string, signal: NodeJS.Signals, waitMs: number) {
  const deadline = Date.now() + waitMs
  if (!servesCluster(pid, clusterDir)) return true
  signalIfThere(pid, signal)
  while (Date.now() < deadline) {
    if (!servesCluster(pid, clusterDir)) return true
    await sleep(POLL_MS)
  }
  return false
}

/** Sends a signal, and ignores that the process has just ended. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
