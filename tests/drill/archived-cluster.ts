import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { watchDirectory } from '../../server/src/testing/cleanup.ts'
import { copyEmptyCluster } from '../../server/src/testing/empty-cluster.ts'

/** A PostgreSQL server of its own with an archive of its log, of which a base backup and later states are kept. */
export type ArchivedCluster = {
  url: string
  /** Ends the server for good; its last state can be started again. */
  end(): Promise<void>
  /** Starts the state of a moment, from the base backup and the archive, or the last state, on a server of its own. */
  startAt(moment: Date | 'end'): Promise<{ url: string; close(): Promise<void> }>
  close(): Promise<void>
}

const database = 'drill'

/** Starts a server with an empty database, prepares it, and takes the base backup. */
export async function startArchivedCluster(prepare: (url: string) => Promise<void>): Promise<ArchivedCluster> {
  const root = mkdtempSync(join(tmpdir(), 'strongroom-archived-'))
  const cleanup = watchDirectory(root)
  const [live, base] = [join(root, 'live'), join(root, 'base')]
  mkdirSync(live)
  copyEmptyCluster(live)
  await (await startEmbeddedPostgres({ dataDir: live, fast: true })).stop()
  const archive = join(live, 'postgres', 'archive')
  mkdirSync(archive)
  const { uid, gid } = statSync(join(live, 'postgres'))
  chownSync(archive, uid, gid)
  setUp(live, ["archive_mode = 'on'", "archive_command = 'cp %p archive/%f'"])
  const server = await startEmbeddedPostgres({ dataDir: live, fast: true })
  await run(server.url, `create database ${database}`)
  const url = toDatabase(server.url)
  await prepare(url)
  await takeBaseBackup(server.url, live, base)
  let restored = 0

  return {
    url,
    async end() {
      // A commit behind every moment that is restored, in a segment that is archived.
      await run(url, 'create table the_end ()')
      const [{ segment }] = await run(server.url, 'select pg_walfile_name(pg_switch_wal()) as segment')
      while (!readdirSync(archive).includes(segment)) await sleep(50)
      await server.stop()
    },
    async startAt(moment) {
      restored += 1
      const folder = join(root, `restored-${restored}`)
      copy(moment === 'end' ? live : base, folder)
      if (moment !== 'end') {
        copy(archive, join(folder, 'postgres', 'archive'))
        write(folder, 'recovery.signal', '')
        setUp(folder, [
          "restore_command = 'cp archive/%f %p'",
          `recovery_target_time = '${moment.toISOString().replace('T', ' ').replace('Z', '+00')}'`,
          "recovery_target_action = 'promote'",
          'hot_standby = off',
        ])
      } else setUp(folder, [])
      const again = await startEmbeddedPostgres({ dataDir: folder, fast: true })
      return {
        url: toDatabase(again.url),
        async close() {
          await again.stop()
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
    async close() {
      await server.stop()
      cleanup.dismiss()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** The files that a server needs, as a backup of its running directory has them. */
async function takeBaseBackup(url: string, live: string, base: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("select pg_backup_start('drill', true)")
  copy(live, base)
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
  await client.end()
  const folder = join(base, 'postgres')
  rmSync(join(folder, 'postmaster.pid'), { force: true })
  for (const name of readdirSync(join(folder, 'pg_wal')))
    if (name !== 'archive_status' && name !== 'summaries') rmSync(join(folder, 'pg_wal', name), { recursive: true })
  rmSync(join(folder, 'archive'), { recursive: true })
  write(base, 'backup_label', rows[0].labelfile)
}

/** Copies a folder with the owners of its files. Files of a running server may vanish meanwhile, which a backup permits. */
function copy(from: string, to: string): void {
  execFileSync('sh', ['-c', 'cp -a "$1" "$2" || true', 'copy', from, to], { stdio: 'ignore' })
}

const setUp = (folder: string, lines: string[]) => write(folder, 'postgresql.auto.conf', `${lines.join('\n')}\n`)

/** Writes a file of a server, which belongs to the account of the server. */
function write(folder: string, name: string, text: string): void {
  const file = join(folder, 'postgres', name)
  writeFileSync(file, text, { mode: 0o600 })
  const { uid, gid } = statSync(join(folder, 'postgres'))
  chownSync(file, uid, gid)
}

function toDatabase(serverUrl: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

// biome-ignore lint/suspicious/noExplicitAny: what a query returns is for the caller to know.
async function run(url: string, statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
