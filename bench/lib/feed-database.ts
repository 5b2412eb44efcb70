import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Db } from '../../server/src/db/client.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { newSecret, sha256 } from '../../server/src/lib/secrets.ts'
import { type FeedWorld, type FeedWorldSize, seedFeedWorld } from '../../server/src/testing/feed-world.ts'
import { leaveSqlBesideCode } from './stack.ts'

export type FeedDatabase = { url: string; world: FeedWorld; seconds: number }

/** One vault per size, each in its own database, on a PostgreSQL that is removed afterwards. */
export async function withFeedDatabases(
  sizes: FeedWorldSize[],
  work: (...databases: FeedDatabase[]) => Promise<void>,
): Promise<void> {
  leaveSqlBesideCode()
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-feed-bench-'))
  const server = await startEmbeddedPostgres({ dataDir, fast: true })
  try {
    const databases: FeedDatabase[] = []
    for (const [i, size] of sizes.entries()) {
      databases.push(await fill(server.url, `feed_${i}`, size))
      const { world, seconds } = databases.at(-1)!
      console.log(`${world.operations} operations of ${world.members} members, filled in ${seconds.toFixed(0)} s`)
    }
    await work(...databases)
  } finally {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function fill(serverUrl: string, name: string, size: FeedWorldSize): Promise<FeedDatabase> {
  const before = performance.now()
  await withClient(serverUrl, (client) => client.query(`create database ${name}`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await migrate(url.href)
  const world = await withClient(url.href, async (client) => {
    await client.query(`set maintenance_work_mem = '512MB'`)
    return seedFeedWorld(client, size)
  })
  return { url: url.href, world, seconds: (performance.now() - before) / 1000 }
}

async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The rows that creating the vault through the service would have added. */
export async function addBuiltInGroups(db: Db, vaultId: string, administrator: string): Promise<void> {
  const now = new Date()
  for (const code of ['everyone', 'administrators']) {
    const group = {
      vault_id: vaultId,
      id: newId(now),
      code,
      name: code,
      is_system: true,
      created_at: now,
      updated_at: now,
    }
    await db.insertInto('policy_groups').values(group).execute()
    if (code === 'everyone') continue
    const membership = {
      vault_id: vaultId,
      id: newId(now),
      group_id: group.id,
      user_id: administrator,
      created_at: now,
    }
    await db.insertInto('policy_group_memberships').values(membership).execute()
  }
}

/** @returns the token of a new session */
export async function signIn(db: Db, userId: string): Promise<string> {
  const [now, token] = [new Date(), newSecret()]
  const inADay = new Date(now.getTime() + 86_400_000)
  const session = { id: newId(now), token_hash: sha256(token), user_id: userId, created_at: now, last_seen_at: now }
  await db
    .insertInto('sessions')
    .values({ ...session, expires_at: inADay, ends_at: inADay })
    .execute()
  return token
}
