import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { AuthorityMarks, Routes, Variants, Vaults } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { findNetworksOfVaults, type NetworkOfVault } from '../../registry/networks/queries.ts'

export type VaultRow = Selectable<Vaults>
export type VariantRow = Selectable<Variants>
export type RouteRow = Selectable<Routes> & { variants: VariantRow[] }
type MarkRow = Selectable<AuthorityMarks>
export type VaultWithStructure = VaultRow & {
  networks: NetworkOfVault[]
  routes: RouteRow[]
  /** The mark of the authority of its wallet service; null when no authority was seen. */
  mark: MarkRow | null
}

/** Returns the vaults of which the user is a member, newest first, one row more than the limit. */
export async function listVaultsOf(
  db: Db | Trx,
  userId: string,
  { after, limit }: Paging,
): Promise<VaultWithStructure[]> {
  let query = db
    .selectFrom('vaults')
    .selectAll()
    .where((where) =>
      where.exists(
        where
          .selectFrom('policy_group_memberships')
          .select(sql`1`.as('one'))
          .whereRef('policy_group_memberships.vault_id', '=', 'vaults.id')
          .where('policy_group_memberships.user_id', '=', userId),
      ),
    )
  if (after !== null) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return withStructure(db, rows)
}

export async function findVault(db: Db | Trx, id: string): Promise<VaultWithStructure | null> {
  const row = await db.selectFrom('vaults').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) return null
  const [vault] = await withStructure(db, [row])
  return vault!
}

/** Returns the ids of all vaults, for the verifier. */
export async function listVaultIds(trx: Trx): Promise<string[]> {
  const rows = await trx.selectFrom('vaults').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/** Returns the sealed webhook secrets of the vaults that have one. */
export async function listSealedWebhookSecrets(
  db: Db,
): Promise<{ id: string; wallet_service_url: string; sealed: Buffer }[]> {
  return db
    .selectFrom('vaults')
    .select(['id', 'wallet_service_url', 'wallet_webhook_secret as sealed'])
    .where('wallet_webhook_secret', 'is not', null)
    .$narrowType<{ sealed: Buffer }>()
    .execute()
}

/** Locks the vault against concurrent changes of its structure. */
export async function lockVaultRow(trx: Trx, id: string): Promise<VaultRow> {
  return trx.selectFrom('vaults').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
}

/** Returns the routes of a vault with their variants, in order. */
async function findRoutes(db: Db | Trx, vaultIds: string[]): Promise<RouteRow[]> {
  const routes = await db
    .selectFrom('routes')
    .selectAll()
    .where('vault_id', 'in', vaultIds)
    .orderBy('position')
    .execute()
  const variants = await db
    .selectFrom('variants')
    .selectAll()
    .where('vault_id', 'in', vaultIds)
    .orderBy('path_id')
    .execute()
  const ofRoute = groupedBy(variants, (variant) => variant.route_id)
  return routes.map((route) => ({ ...route, variants: ofRoute.get(route.id) ?? [] }))
}

export async function findRoute(db: Db | Trx, vaultId: string, id: string): Promise<RouteRow | null> {
  return (await findRoutes(db, [vaultId])).find((route) => route.id === id) ?? null
}

export async function findVariant(db: Db | Trx, vaultId: string, id: string): Promise<VariantRow | null> {
  const row = await db
    .selectFrom('variants')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

async function withStructure(db: Db | Trx, rows: VaultRow[]): Promise<VaultWithStructure[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const networks = groupedBy(await findNetworksOfVaults(db, ids), (network) => network.vault_id)
  const routes = groupedBy(await findRoutes(db, ids), (route) => route.vault_id)
  const marks = groupedBy(await findMarks(db, ids), ({ vault_id }) => vault_id)
  return rows.map((row) => ({
    ...row,
    networks: networks.get(row.id) ?? [],
    routes: routes.get(row.id) ?? [],
    mark: marks.get(row.id)?.[0] ?? null,
  }))
}

const findMarks = (db: Db | Trx, ids: string[]): Promise<MarkRow[]> =>
  db.selectFrom('authority_marks').selectAll().where('vault_id', 'in', ids).execute()

function groupedBy<Row>(rows: Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}
