import { sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { addressKeyIn, bech32KeyOf } from '../../registry/networks/queries.ts'
import type { AcceptedEntry } from '../../registry/wallet-service/answers.ts'
import { parseDerivationPath } from '../structure/derivation.ts'
import { findVault } from '../structure/queries.ts'

/**
 * The place up to which the entries of a wallet service were compared. `walletNumber` counts the wallet services of the vault. The
 * cursor is null until entries of the present wallet service were compared.
 */
export type WalletMark = {
  cursor: string | null
  entries: number
  /** True if all entries of this wallet service were compared once. */
  isComplete: boolean
  walletNumber: number
  haltReason: HaltReason | null
  /** The paths of stored addresses that were not listed up to the cursor. */
  notListed: string[]
  /** The name of the present database of the books, and the names of both databases at the last comparison. */
  database: string
  booksDatabase: string | null
  walletDatabase: string | null
}
export type HaltReason = 'books_behind' | 'wallet_behind'

export async function findWalletMark(db: Db | Trx, vaultId: string): Promise<WalletMark> {
  const { rows } = await sql<WalletMark>`${prepared}
    select m.cursor, coalesce(m.entries, 0)::float8 as entries, coalesce(m.wallet_number, 0) as "walletNumber",
      coalesce(m.is_complete, false) as "isComplete",
      v.halt_reason as "haltReason", database_mark() as database,
      m.books_database as "booksDatabase", m.wallet_database as "walletDatabase",
      array(select p.derivation_path from asked_paths p
        where p.vault_id = v.id and p.is_stored and not p.is_listed and m.is_complete) as "notListed"
    from vaults v left join wallet_marks m on m.vault_id = v.id where v.id = ${vaultId}`.execute(db)
  return rows[0]!
}

/** Locks the mark of a vault. Returns false if the mark or the halt has changed since `known` was read. */
export async function lockWalletMark(trx: Trx, vaultId: string, known: WalletMark): Promise<boolean> {
  await sql`insert into wallet_marks (vault_id) values (${vaultId}) on conflict do nothing`.execute(trx)
  await sql`select from wallet_marks where vault_id = ${vaultId} for update`.execute(trx)
  const present = await findWalletMark(trx, vaultId)
  return (
    present.cursor === known.cursor &&
    present.walletNumber === known.walletNumber &&
    present.haltReason === known.haltReason
  )
}

type Compared = Pick<WalletMark, 'entries' | 'isComplete'> & {
  cursor: string
  now: Date
  /** The mark before the entries were asked for, and the database of the wallet service according to its answer. */
  mark: WalletMark
  walletDatabase: string | null
}

/**
 * Stores how far the entries were compared. When both databases have another name than before, both may have been restored to an earlier
 * time. The next addresses then get indices above the indices that both may have forgotten.
 */
export async function setWalletMark(
  trx: Trx,
  vaultId: string,
  { cursor, entries, isComplete, now, mark, walletDatabase }: Compared,
): Promise<void> {
  if (areBooksMoved(mark)) await burnPaths(trx, vaultId, await listAnswerless(trx, vaultId), now)
  await sql`
    update wallet_marks set cursor = ${cursor}, entries = ${entries}, is_complete = ${isComplete}, compared_at = ${now},
      books_database = ${mark.database}, wallet_database = ${walletDatabase},
      index_floors = index_floors || case when ${areBothMoved(mark, walletDatabase)} then array[greatest(
        (select max(f) from unnest(index_floors) f),
        (select max(path_index) from addresses where vault_id = ${vaultId}),
        (select max(path_index) from asked_paths where vault_id = ${vaultId}), 0) + ${skippedIndices}::bigint] else '{}' end
    where vault_id = ${vaultId}`.execute(trx)
}

/** The indices that are skipped: more than a vault makes addresses between a backup and its restore. */
export const skippedIndices = 1_000_000

/** Returns true if the books are known to work with another database than at the last comparison. */
export const areBooksMoved = ({ database, booksDatabase }: WalletMark): boolean =>
  booksDatabase !== null && booksDatabase !== database

/** Returns true if both databases are known to have another name than at the last comparison. */
export function areBothMoved(mark: WalletMark, present: string | null): boolean {
  return areBooksMoved(mark) && mark.walletDatabase !== null && present !== null && mark.walletDatabase !== present
}

/** Begins the comparison anew, because the vault has another wallet service, or another secret for it. */
export async function forgetWalletMark(trx: Trx, vaultId: string): Promise<void> {
  await sql`delete from asked_paths where vault_id = ${vaultId} and is_stored and not is_burnt`.execute(trx)
  await sql`
    insert into wallet_marks (vault_id, wallet_number) values (${vaultId}, 1)
    on conflict (vault_id) do update
      set cursor = null, entries = 0, is_complete = false, compared_at = null, wallet_number = wallet_marks.wallet_number + 1`.execute(
    trx,
  )
}

export async function setHalt(trx: Trx, vaultId: string, halt: { at: Date; reason: HaltReason } | null): Promise<void> {
  await trx
    .updateTable('vaults')
    .set({ halted_at: halt?.at ?? null, halt_reason: halt?.reason ?? null })
    .where('id', '=', vaultId)
    .execute()
}

/** Records that the wallet service will be asked for the address of a path. The record must be committed before the request. */
export async function recordAskedPath(db: Db, vaultId: string, derivationPath: string, now: Date): Promise<void> {
  await sql`${prepared}
    insert into asked_paths (vault_id, derivation_path, asked_at) values (${vaultId}, ${derivationPath}, ${now})
    on conflict do nothing`.execute(db)
}

/** Records that the address of a path is stored, in the same transaction. */
export async function noteStoredPath(trx: Trx, vaultId: string, derivationPath: string): Promise<void> {
  await sql`${prepared}
    update asked_paths set is_stored = true
    where vault_id = ${vaultId} and derivation_path = ${derivationPath} and not is_burnt`.execute(trx)
  await forgetKnownPaths(trx, vaultId, [derivationPath])
}

/** Lists the paths that were asked for and have no address in the books. Restored books may have lost addresses that people use. */
async function listAnswerless(trx: Trx, vaultId: string): Promise<string[]> {
  const { rows } = await sql<{ path: string }>`
    select derivation_path as path from asked_paths where vault_id = ${vaultId} and not is_stored and not is_burnt`.execute(
    trx,
  )
  return rows.map(({ path }) => path)
}

/** Records that the wallet service has listed these paths. */
export async function noteListedPaths(trx: Trx, vaultId: string, derivationPaths: string[]): Promise<void> {
  if (derivationPaths.length === 0) return
  await sql`
    update asked_paths set is_listed = true
    where vault_id = ${vaultId} and derivation_path = any(${derivationPaths}::text[]) and not is_burnt`.execute(trx)
  await forgetKnownPaths(trx, vaultId, derivationPaths)
}

/** Both sides write their half before they look for the other one, under the lock of the row. */
async function forgetKnownPaths(trx: Trx, vaultId: string, derivationPaths: string[]): Promise<void> {
  await sql`${prepared}
    delete from asked_paths where vault_id = ${vaultId} and derivation_path = any(${derivationPaths}::text[])
      and is_stored and is_listed and not is_burnt`.execute(trx)
}

/** Burns derivation paths: no address is given to anybody under them. */
export async function burnPaths(trx: Trx, vaultId: string, derivationPaths: string[], now: Date): Promise<void> {
  const vault = (await findVault(trx, vaultId))!
  const networks = vault.networks.map(({ coin_type: coinType }) => ({ coinType }))
  const routes = vault.routes.map(({ code, dynamic, variants }) => ({
    code,
    dynamic,
    variants: variants.map(({ path_id: pathId }) => ({ pathId: Number(pathId) })),
  }))
  for (const path of derivationPaths) {
    const parsed = parseDerivationPath(path, { networks, routes })
    const place = 'fault' in parsed ? null : placeOf(path, parsed.segments)
    await sql`
      insert into asked_paths (vault_id, derivation_path, asked_at, is_burnt, static_prefix, path_index)
      values (${vaultId}, ${path}, ${now}, true, ${place?.prefix ?? null}, ${place?.index ?? null})
      on conflict (vault_id, derivation_path) do update
        set is_burnt = true, static_prefix = excluded.static_prefix, path_index = excluded.path_index`.execute(trx)
  }
}

function placeOf(path: string, segments: { route: { dynamic: boolean }; pathId: number }[]) {
  const parts = path.split('/')
  const at = segments.findIndex(({ route }) => route.dynamic)
  if (at === -1) return { prefix: path, index: 0 }
  // m, 44 and the coin type stand before the segments.
  return { prefix: parts.filter((_, n) => n !== at + 3).join('/'), index: segments[at]!.pathId }
}

/**
 * Returns the entries that the books do not have. The entries must be older than this read: the books record every request before it is
 * sent, so this read then finds the record.
 *
 * A transfer must have been handed over. An address must be stored, or its path recorded as asked or burnt. An event must have credited
 * its deposit, or be kept. A transaction must be that of a transfer. Vaults may share a wallet service: the books of all of them count.
 *
 * @param isFirst true for the first comparison with this wallet service: versions that did not record when a transfer was handed over
 *   may have handed it over.
 * @param isRestored true if an address that was asked for, and is not stored, counts as unknown: restored books may have lost its answer
 */
export async function listUnknown(
  db: Db | Trx,
  vaultId: string,
  entries: AcceptedEntry[],
  { isFirst = false, isRestored = false }: { isFirst?: boolean; isRestored?: boolean } = {},
): Promise<AcceptedEntry[]> {
  if (entries.length === 0) return []
  const rows = entries.map((entry, n) => ({ n, ...toColumns(entry) }))
  const { rows: unknown } = await sql<{ n: number }>`
    with here as materialized (
      select v.id from vaults v where v.wallet_service_url = (select wallet_service_url from vaults where id = ${vaultId})
    ), entries as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as e(n integer, kind text, id text, network text, path text, address text, as_bech32 text, contract text, tx_hash text,
          tx_index integer, occurrence integer, is_orphan boolean)
    )
    select e.n from entries e where e.kind = 'transfer' and not exists (
      select from here h join transfers t on t.vault_id = h.id and t.id = e.id where ${isFirst} or t.sent_at is not null)
    union all
    select e.n from entries e where e.kind = 'address' and not exists (
      select from here h join networks n on n.slug = e.network
      join addresses a on a.vault_id = h.id and a.network_id = n.id and a.derivation_path = e.path)
      and not exists (select from here h join asked_paths p on p.vault_id = h.id and p.derivation_path = e.path
        where p.is_burnt or not ${isRestored})
    union all
    select e.n from entries e left join networks n on n.slug = e.network
    cross join lateral (select ${addressKeyIn('n', sql`e.address`, sql`e.as_bech32`)} as address_key,
      case when n.type = 'evm' then lower(e.contract) else e.contract end as contract_key,
      case when n.type = 'evm' then lower(e.tx_hash) else e.tx_hash end as tx_hash) k
    where e.kind = 'event' and not exists (
      select from here h join addresses a on a.vault_id = h.id and a.network_id = n.id and a.address_key = k.address_key
      join tokens t on t.network_id = n.id and t.contract_key = k.contract_key
      join deposits d on d.vault_id = h.id and d.address_id = a.id and d.token_id = t.id and d.tx_hash = k.tx_hash
        and d.tx_index = e.tx_index
      where d.occurrence > e.occurrence
        or (d.occurrence = e.occurrence and (not e.is_orphan or d.orphaned_at is not null)))
      and not exists (
        select from wallet_events w where w.network = n.slug and w.address_key = k.address_key
          and w.outcome not in ('credited', 'duplicate') and strpos(lower(w.body), lower(e.tx_hash)) > 0)
      -- An event on a network that the registry never had was stored without a key of its address.
      and not (n.id is null and exists (
        select from wallet_events w where w.network = e.network and w.address_key is null
          and w.outcome = 'ignored' and strpos(lower(w.body), lower(e.tx_hash)) > 0))
    union all
    select e.n from entries e left join networks n on n.slug = e.network where e.kind = 'transaction' and not exists (
      select from here h join transfer_hashes t on t.vault_id = h.id
        and t.tx_hash = case when n.type = 'evm' then lower(e.tx_hash) else e.tx_hash end)`.execute(db)
  return unknown.map(({ n }) => entries[n]!)
}

function toColumns(entry: AcceptedEntry) {
  if (entry.kind === 'transfer') return { kind: entry.kind, id: entry.id }
  if (entry.kind === 'address') return { kind: entry.kind, network: entry.network, path: entry.derivationPath }
  if (entry.kind === 'transaction') return { kind: entry.kind, network: entry.network, tx_hash: entry.txHash }
  const { kind, network, toAddress, asset, txHash, index, occurrence, isOrphan } = entry
  return {
    kind,
    network,
    address: toAddress,
    as_bech32: bech32KeyOf(toAddress),
    contract: asset ?? '',
    tx_hash: txHash,
    tx_index: index,
    occurrence,
    is_orphan: isOrphan,
  }
}
