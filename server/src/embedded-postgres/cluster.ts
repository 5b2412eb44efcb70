import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { ensurePassword, findPassword } from './password.ts'
import { runProgram } from './programs.ts'
import { reachDirectory } from './reach.ts'

export const SUPERUSER = 'strongroom'

const STAGING_PREFIX = 'postgres.new-'

/** Settings that an operator may change later in postgresql.conf, for a small machine. */
const TUNABLES = {
  shared_buffers: '64MB',
  max_connections: '100',
  wal_compression: 'on',
  max_wal_size: '512MB',
  checkpoint_completion_target: '0.9',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
}

/**
 * Creates the data directory unless it exists. A new cluster is made beside its final place, flushed to disk by initdb and then
 * renamed, so that `<dataDir>/postgres` is either complete and durable or absent. An interrupted start leaves only a staging
 * directory, which the next start removes.
 */
export async function ensureCluster(options: {
  dataDir: string
  clusterDir: string
  account: Account
  binaries: Binaries
  fast: boolean
}): Promise<{ password: string; created: boolean }> {
  const { dataDir, clusterDir, account, binaries } = options
  removeAbandonedStaging(dataDir)
  if (isCluster(clusterDir)) {
    assertUsable(clusterDir, binaries)
    takeOwnership(clusterDir, account)
    return { password: getPassword(dataDir), created: false }
  }
  const password = ensurePassword(dataDir)
  await createCluster({ ...options, password })
  return { password, created: true }
}

function isCluster(clusterDir: string): boolean {
  const names = readdirIfThere(clusterDir)
  if (names === null) return false
  if (names.includes('PG_VERSION')) return true
  if (names.length > 0) throw new Error(`${clusterDir} is not a PostgreSQL data directory; move it away.`)
  rmdirSync(clusterDir)
  return false
}

function readdirIfThere(directory: string): string[] | null {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function assertUsable(clusterDir: string, binaries: Binaries): void {
  const major = readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8').trim()
  if (major !== binaries.major) {
    throw new Error(
      `${clusterDir} was made by PostgreSQL ${major} but the embedded one is ${binaries.major}; dump it with version ` +
        `${major} and restore it into a new data directory.`,
    )
  }
}

function getPassword(dataDir: string): string {
  const password = findPassword(dataDir)
  if (password) return password
  throw new Error(`${join(dataDir, 'postgres-password')} is missing; restore it from the backup of this directory.`)
}

/**
 * Takes the ownership of the directory. A copy or a restored backup may belong to another account or be open to others, which
 * PostgreSQL refuses.
 */
function takeOwnership(clusterDir: string, account: Account): void {
  const { uid, mode } = statSync(clusterDir)
  if (uid !== account.uid) {
    if (!account.switched) {
      throw new Error(
        `${clusterDir} belongs to uid ${uid} but this process runs as uid ${account.uid}; start as that user or hand ` +
          'the directory over with chown -R.',
      )
    }
    chownTree(clusterDir, account)
  }
  if ((mode & 0o027) !== 0) chmodSync(clusterDir, 0o700)
}

function chownTree(directory: string, account: Account): void {
  lchownSync(directory, account.uid, account.gid)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) chownTree(path, account)
    else lchownSync(path, account.uid, account.gid)
  }
}

async function createCluster(options: {
  dataDir: string
  clusterDir: string
  account: Account
  binaries: Binaries
  fast: boolean
  password: string
}): Promise<void> {
  const { dataDir, clusterDir, account, binaries, fast, password } = options
  const staging = mkdtempSync(join(dataDir, `${STAGING_PREFIX}${process.pid}-`))
  const reach = reachDirectory(staging, account)
  try {
    writeFileSync(join(staging, 'password'), password, { mode: 0o600 })
    mkdirSync(join(staging, 'cluster'), { mode: 0o700 })
    if (account.switched) {
      for (const path of [staging, join(staging, 'password'), join(staging, 'cluster')]) {
        chownSync(path, account.uid, account.gid)
      }
    }
    await runProgram({
      program: binaries.initdb,
      args: [
        `--pgdata=${reach.path}/cluster`,
        `--username=${SUPERUSER}`,
        `--pwfile=${reach.path}/password`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // This locale is built into PostgreSQL. Its byte order and Unicode rules do not depend on the C library.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        ...Object.entries(TUNABLES).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
        ...(fast ? ['--no-sync', '--wal-segsize=1'] : []),
      ],
      account,
      descriptors: reach.descriptors,
    })
    moveIntoPlace(join(staging, 'cluster'), clusterDir)
    if (!fast) syncDirectory(dataDir)
  } finally {
    reach.close()
    rmSync(staging, { recursive: true, force: true })
  }
}

function moveIntoPlace(made: string, clusterDir: string): void {
  try {
    renameSync(made, clusterDir)
  } catch (error) {
    // Another process that started at the same time was first. Its cluster has the same password.
    if (!existsSync(join(clusterDir, 'PG_VERSION'))) throw error
  }
}

/** Flushes the directory, so that a rename or a new file in it is durable. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function removeAbandonedStaging(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(STAGING_PREFIX)) continue
    const maker = Number(name.slice(STAGING_PREFIX.length).split('-')[0])
    if (maker !== process.pid && isAlive(maker)) continue
    rmSync(join(dataDir, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
