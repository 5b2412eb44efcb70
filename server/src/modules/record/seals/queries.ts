import type { Selectable } from 'kysely'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { AuditSeals } from '../../../db/types.ts'
import type { SealLog } from './seal-content.ts'

/** A row of `audit_seals` or `ledger_seals`, which have the same columns. */
export type SealRow = Selectable<AuditSeals>

/** The table of the seals of each log. */
const sealTables: Record<SealLog, RawBuilder<unknown>> = {
  audit: sql`audit_seals`,
  ledger: sql`ledger_seals`,
}

export async function insertSeal(trx: Trx, log: SealLog, seal: SealRow): Promise<void> {
  await sql`
    insert into ${sealTables[log]} (chain, sequence, format, previous_hash, record_ids, record_hashes, root, hash,
      public_key, signature, sealed_at)
    values (${seal.chain}, ${seal.sequence}, ${seal.format}, ${seal.previous_hash}, ${seal.record_ids}::text[],
      ${seal.record_hashes}::bytea[], ${seal.root}, ${seal.hash}, ${seal.public_key}, ${seal.signature},
      ${seal.sealed_at})`.execute(trx)
}

export async function findLastSeal(
  db: Db | Trx,
  log: SealLog,
  chain: string,
): Promise<{ sequence: string; hash: Buffer } | undefined> {
  const { rows } = await sql<{ sequence: string; hash: Buffer }>`
    select sequence, hash from ${sealTables[log]} where chain = ${chain} order by sequence desc limit 1`.execute(db)
  return rows[0]
}

export async function listSealsAfter(
  db: Db | Trx,
  log: SealLog,
  chain: string,
  { sequence, limit }: { sequence: string; limit: number },
): Promise<SealRow[]> {
  const { rows } = await sql<SealRow>`
    select * from ${sealTables[log]} where chain = ${chain} and sequence > ${sequence} order by sequence
    limit ${limit}`.execute(db)
  return rows
}

/** A seal with the number of its leaves. Only a seal of format 1 has the leaves too, because its hash lists them. */
export type SealHeadRow = Omit<SealRow, 'record_ids' | 'record_hashes'> & {
  size: number
  record_ids: string[] | null
  record_hashes: Buffer[] | null
}

/** Returns seals of a seal chain after a number, in their order, without the leaves of those that have a root. */
export async function listSealHeads(
  db: Db | Trx,
  log: SealLog,
  chain: string,
  { sequence, limit }: { sequence: string; limit: number },
): Promise<SealHeadRow[]> {
  const { rows } = await sql<SealHeadRow>`
    select chain, sequence, format, previous_hash, root, hash, public_key, signature, sealed_at,
      cardinality(record_ids) as size, case when format = 1 then record_ids end as record_ids,
      case when format = 1 then record_hashes end as record_hashes
    from ${sealTables[log]} where chain = ${chain} and sequence > ${sequence} order by sequence limit ${limit}`.execute(
    db,
  )
  return rows
}

/** Returns the number of the last seal of a seal chain that was made before a moment; null if the chain has no such seal. */
export async function findSealBefore(db: Db | Trx, log: SealLog, chain: string, at: Date): Promise<string | null> {
  const { rows } = await sql<{ sequence: string }>`
    select sequence from ${sealTables[log]} where chain = ${chain} and sealed_at < ${at} order by sequence desc limit 1`.execute(
    db,
  )
  return rows[0]?.sequence ?? null
}

export type Head = { log: SealLog; chain: string; sequence: number; hash: string }

/** Returns the last seal of every seal chain of a log, with one step into the index per seal chain, however long it is. */
export async function listHeads(db: Db | Trx, log: SealLog): Promise<Head[]> {
  const table = sealTables[log]
  const { rows } = await sql<{ chain: string; sequence: string; hash: Buffer }>`
    with recursive chains as (
      select min(chain) as chain from ${table}
      union all
      select (select min(s.chain) from ${table} s where s.chain > c.chain) from chains c where c.chain is not null
    )
    select c.chain, s.sequence, s.hash from chains c
    cross join lateral (
      select sequence, hash from ${table} where chain = c.chain order by sequence desc limit 1) s
    order by c.chain collate "C"`.execute(db)
  return rows.map(({ chain, sequence, hash }) => ({
    log,
    chain,
    sequence: Number(sequence),
    hash: hash.toString('hex'),
  }))
}

export async function hasHeads(db: Db): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from ${sealTables.audit}) or exists (select from ${sealTables.ledger}) as has`.execute(db)
  return rows[0]!.has
}

/** Returns the hashes of these seals of a seal chain, by number. A seal that does not exist is absent. */
export async function findSealHashes(
  db: Db | Trx,
  log: SealLog,
  chain: string,
  sequences: number[],
): Promise<Map<number, string>> {
  const { rows } = await sql<{ sequence: string; hash: Buffer }>`
    select sequence, hash from ${sealTables[log]}
    where chain = ${chain} and sequence = any(${sequences}::bigint[])`.execute(db)
  return new Map(rows.map(({ sequence, hash }) => [Number(sequence), hash.toString('hex')]))
}
