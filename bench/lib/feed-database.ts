import pg from 'pg'
import type { Db } from '../../server/src/db/client.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { newSecret, sha256 } from '../../server/src/lib/secrets.ts'
import { type FeedWorld, type FeedWorldSize, seedFeedWorld } from '../../server/src/testing/feed-world.ts'
import { startPostgres } from './postgres.ts'
import { leaveSqlBesideCode, openServiceDeps, type Stack } from './stack.ts'

export type FeedDatabase = { url: string; world: FeedWorld; seconds: number }

/** Creates one vault per size, each in its own database, on a PostgreSQL that is removed afterwards. */
export async function withFeedDatabases(
  sizes: FeedWorldSize[],
  work: (...databases: FeedDatabase[]) => Promise<void>,
): Promise<void> {
  leaveSqlBesideCode()
  const server = await startPostgres({ fast: true })
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

/** Computes the totals of accounts that were inserted without entries. */
export const totalsOfAccounts = `insert into ledger_totals (vault_id, token_id, available, reserved)
  select vault_id, token_id, coalesce(sum(balance) filter (where purpose = 'available'), 0),
    coalesce(sum(balance) filter (where purpose = 'reserved'), 0)
  from ledger_accounts where address_id <> '' group by vault_id, token_id`

/**
 * Fills a vault of a hundred members behind a running service. Returns the sessions of a member and of an
 * administrator.
 */
export async function fillVault(
  stack: Stack,
  operations: number,
): Promise<{ world: FeedWorld; member: string; administrator: string }> {
  const world = await withClient(stack.databaseUrl, async (client) => {
    const filled = await seedFeedWorld(client, { members: 100, addresses: 1_000, operations, shared: 100 })
    await client.query(`insert into ledger_accounts (vault_id, id, token_id, address_id, purpose, balance, created_at)
      select a.vault_id, 'cl' || p || right(t.id, 3) || right(a.id, 12), t.id, a.id, x.purpose, 5, now()
      from addresses a, tokens t, (values ('0000000', 'available'), ('1111111', 'reserved')) x (p, purpose)
      where t.id < '${filled.idOf('token', 5)}'`)
    await client.query(totalsOfAccounts)
    await client.query('vacuum analyze')
    return filled
  })
  const { deps, close } = await openServiceDeps(stack)
  const [member, administrator] = [world.idOf('user', 1), world.idOf('user', 2)]
  await addBuiltInGroups(deps.db, world.vaultId, administrator)
  const tokens = { member: await signIn(deps.db, member), administrator: await signIn(deps.db, administrator) }
  await close()
  return { world, ...tokens }
}

/** Inserts the rows that the service adds when it creates a vault. */
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
