import { sql } from 'kysely'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/newest-first.ts'
import type { IdentityProviders } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { Linking, ProviderStatus } from './schema.ts'

export type ProviderRow = RowOf<IdentityProviders, { linking: Linking; status: ProviderStatus }>

/** Returns the providers, newest first, one row more than the limit. */
export async function listProviders(db: Db | Trx, page: Paging): Promise<ProviderRow[]> {
  const rows = await newestFirst(db.selectFrom('identity_providers').selectAll(), page).execute()
  return rows as ProviderRow[]
}

export async function findProvider(db: Db | Trx, id: string): Promise<ProviderRow | null> {
  const row = await db.selectFrom('identity_providers').selectAll().where('id', '=', id).executeTakeFirst()
  return (row ?? null) as ProviderRow | null
}

/** Returns a provider, locked until the transaction ends. */
export async function lockProvider(trx: Trx, id: string): Promise<ProviderRow | null> {
  const row = await trx.selectFrom('identity_providers').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return (row ?? null) as ProviderRow | null
}

type ProviderOfDomain = Pick<ProviderRow, 'id' | 'name' | 'enforce'>

/** Returns the active provider of the domain of an e-mail address. */
export async function findProviderOf(db: Db | Trx, email: string): Promise<ProviderOfDomain | null> {
  const row = await db
    .selectFrom('identity_domains as d')
    .innerJoin('identity_providers as p', 'p.id', 'd.provider_id')
    .select(['p.id', 'p.name'])
    // A stopped provider stays enforced, and its enforcement holds for the next provider of the domain, too.
    .select(
      sql<boolean>`exists (select from identity_providers e where e.enforce and d.domain = any(e.domains))`.as(
        'enforce',
      ),
    )
    .where('d.domain', '=', domainOf(email))
    .executeTakeFirst()
  return row ?? null
}

/** Returns true if people of any domain may sign in through a provider. */
export async function hasActiveProvider(db: Db | Trx): Promise<boolean> {
  const row = await db.selectFrom('identity_domains').select('domain').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Returns the ids of the vaults that have members with e-mail addresses of the domains. */
export async function listVaultIdsOfDomains(trx: Trx, domains: string[]): Promise<string[]> {
  const { rows } = await sql<{ vault_id: string }>`
    select distinct m.vault_id from users u join policy_group_memberships m on m.user_id = u.id
    where split_part(u.email, '@', 2) = any(${domains}::text[])`.execute(trx)
  return rows.map((row) => row.vault_id)
}

/** Returns true while the activation of the provider waits for another platform administrator. */
export async function isWaiting(trx: Trx, id: string): Promise<boolean> {
  const row = await trx
    .selectFrom('platform_changes')
    .select('id')
    .where('action', '=', 'identity_provider_activate')
    .where('target_id', '=', id)
    .where('status', '=', 'held')
    .executeTakeFirst()
  return row !== undefined
}

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

/** Returns true if the domain of an e-mail address is one of the provider. */
export const answersFor = ({ domains }: Pick<ProviderRow, 'domains'>, email: string): boolean =>
  domains.includes(domainOf(email))
