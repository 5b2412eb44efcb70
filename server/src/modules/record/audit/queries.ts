import type { Selectable } from 'kysely'
import { type RawBuilder, sql } from 'kysely'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/newest-first.ts'
import { recordKeyOf } from '../../../db/record-key.ts'
import type { AuditRecords } from '../../../db/types.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import { badRequest } from '../../../lib/errors.ts'
import { sequenceOfId } from '../../../lib/ids.ts'
import { auditVerifyPageRecordsMax, recordsOfHashMax } from '../../../lib/limits.ts'
import type { Bounds } from '../../../lib/period.ts'
import type { SealRow } from '../seals/queries.ts'
import { readRecord, type TargetRecord } from './record.ts'

export type AuditRecordRow = Selectable<AuditRecords>
/** An audit record with its actor, for a list. */
export type ListedRecordRow = AuditRecordRow & { actor: MemberProfile | null }

type AuditFilter = { actor?: string; action?: string; target?: string; bounds: Bounds }

/** Returns the records of one seal chain, newest first. */
export async function listAuditRecords(
  db: Db | Trx,
  chain: string,
  { actor, action, target, bounds }: AuditFilter,
  page: Paging,
): Promise<ListedRecordRow[]> {
  let query = db
    .selectFrom('audit_records')
    .selectAll()
    .select(profileOfUser(sql.ref('audit_records.actor_id')).as('actor'))
    .where('chain', '=', chain)
  if (actor !== undefined) query = query.where('actor_id', '=', actor)
  if (action !== undefined) query = query.where('action', '=', action)
  if (target !== undefined) query = query.where('target_id', '=', target)
  if (bounds.from !== null) query = query.where('created_at', '>=', bounds.from)
  if (bounds.to !== null) query = query.where('created_at', '<=', bounds.to)
  return newestFirst(query, page).execute()
}

/** The place where a page of records ends, in the order of seal chain and id. */
export type RecordPlace = Pick<AuditRecordRow, 'chain' | 'id'>
export const beforeAllRecords: RecordPlace = { chain: '', id: '' }

/** Returns committed records that no seal holds yet, by seal chain and id. */
export function listUnsealedRecords(db: Db | Trx, { chain, id }: RecordPlace, limit: number) {
  return db
    .selectFrom('audit_records')
    .selectAll()
    .where('seal_sequence', 'is', null)
    .where(sql<boolean>`(chain, id) > (${chain}, ${id})`)
    .orderBy('chain')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/**
 * Returns the first seal chain of records or seals after the seal chain `after`; null after the last. This lists the seal chains
 * without reading all their rows.
 */
export async function findNextChain(db: Db | Trx, after: string): Promise<string | null> {
  const { rows } = await sql<{ chain: string | null }>`
    select least(
      (select min(chain) from audit_records where chain > ${after}),
      (select min(chain) from audit_seals where chain > ${after})
    ) as chain`.execute(db)
  return rows[0]?.chain ?? null
}

/** Returns the seals of one seal chain, newest first, one more than the limit; or only the seal of a number. */
export async function listSealsBefore(
  db: Db | Trx,
  chain: string,
  sequence: number | null,
  { after, limit }: Paging,
): Promise<SealRow[]> {
  let query = db.selectFrom('audit_seals').selectAll().where('chain', '=', chain)
  if (sequence !== null) query = query.where('sequence', '=', String(sequence))
  if (after !== null) query = query.where('sequence', '<', sequenceOfCursor(after))
  return query
    .orderBy('sequence', 'desc')
    .limit(limit + 1)
    .execute()
}

/** Returns the sequence number of a cursor. A forged cursor must not reach PostgreSQL as a number that it cannot hold. */
function sequenceOfCursor({ id }: Position): string {
  const sequence = sequenceOfId(id)
  if (sequence >= 2n ** 63n) throw badRequest('cursor', 'is not a cursor of this list', 'invalid_cursor')
  return sequence.toString()
}

/** Returns the records that name one of the seals from `first` to `last`. */
export function listRecordsOfSeals(db: Db | Trx, chain: string, [first, last]: [string, string], limit: number) {
  return db
    .selectFrom('audit_records')
    .selectAll()
    .where('chain', '=', chain)
    .where('seal_sequence', '>=', first)
    .where('seal_sequence', '<=', last)
    .orderBy('seal_sequence')
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function findAuditRecord(db: Db | Trx, chain: string, id: string): Promise<AuditRecordRow | undefined> {
  return db.selectFrom('audit_records').selectAll().where('chain', '=', chain).where('id', '=', id).executeTakeFirst()
}

/** Returns every record about the targets whose action begins with the noun, such as `transfer`, in no particular order. */
export async function listRecordsOf(
  db: Db | Trx,
  chain: string,
  noun: string,
  targetIds: string[],
): Promise<ReplayedRecord[]> {
  const { rows } = await sql<SealedRecordRow>`${prepared}
    select r.*, ${sealedHash} from ${withSeals}
    where r.chain = ${chain} and r.target_id = any(${targetIds}::text[]) and starts_with(r.action, ${`${noun}.`})`.execute(
    db,
  )
  const key = recordKeyOf(db)
  return rows.map((row) => ({ ...readRecord(row, key), at: row.created_at }))
}

/**
 * Returns true if the service recorded the action for the target with this hash in its details. Records that an intruder
 * wrote into the database do not count, however many they are.
 */
export async function isRecorded(
  db: Db | Trx,
  chain: string,
  { action, targetId, hash }: { action: string; targetId: string; hash: string },
): Promise<boolean> {
  const { rows } = await sql<SealedRecordRow>`
    select r.*, ${sealedHash} from ${withSeals}
    where r.chain = ${chain} and r.target_id = ${targetId} and r.action = ${action} and strpos(r.content, ${hash}) > 0
    limit ${recordsOfHashMax}`.execute(db)
  const key = recordKeyOf(db)
  return rows.map((row) => readRecord(row, key)).some(({ fault, details }) => fault === null && details.hash === hash)
}

/** SQL: returns JSON of the records that `listRecordsOf` reads, as a column of another statement; see `readRecords`. */
export const recordsOf = (chain: string, noun: string, targetIds: string[]): RawBuilder<RecordAsJson[]> => sql`(
  select coalesce(json_agg(f), '[]') from (
    select r.*, ${sealedHash} from ${withSeals}
    where r.chain = ${chain} and r.target_id = any(${targetIds}::text[]) and starts_with(r.action, ${`${noun}.`})) f)`

/** A record as JSON: times and bytes are texts. */
export type RecordAsJson = {
  [Column in keyof SealedRecordRow]: Extract<SealedRecordRow[Column], string | null> | AsText<SealedRecordRow[Column]>
}
type AsText<Value> = Value extends Date | Buffer ? string : never

export function readRecords(db: Db | Trx, rows: RecordAsJson[]): TargetRecord[] {
  const key = recordKeyOf(db)
  return rows.map(({ created_at, hash, mac, sealed_hash, ...row }) =>
    readRecord(
      {
        ...row,
        created_at: new Date(created_at),
        hash: bytesOf(hash),
        mac: mac === null ? null : bytesOf(mac),
        sealed_hash: sealed_hash === null ? null : bytesOf(sealed_hash),
      },
      key,
    ),
  )
}

/** Decodes `\\x` and hex digits. */
const bytesOf = (text: string) => Buffer.from(text.slice(2), 'hex')

/** A record with the hash under which its seal holds it; null when the named seal does not hold it. */
type SealedRecordRow = AuditRecordRow & { target_id: string; sealed_hash: Buffer | null }
const sealedHash = sql`s.record_hashes[array_position(s.record_ids, r.id)] as sealed_hash`
const withSeals = sql`audit_records r left join audit_seals s on s.chain = r.chain and s.sequence = r.seal_sequence`

/** A record with its moment. `rank` orders the records of one moment, such as those of a change set. */
export type ReplayedRecord = TargetRecord & { at: Date }

/**
 * Returns the records of a seal chain with these actions in their order: by time, and within a millisecond in the order of
 * `actions`, because ids of one moment have no order.
 */
export async function* replay(
  trx: Db | Trx,
  chain: string,
  actions: readonly string[],
): AsyncGenerator<ReplayedRecord> {
  const key = recordKeyOf(trx)
  let after = { at: new Date(0), rank: 0, id: '' }
  for (;;) {
    const { rows } = await sql<SealedRecordRow & { rank: number }>`
      select * from (
        select r.*, ${sealedHash}, array_position(${actions}::text[], r.action) as rank from ${withSeals}
        where r.chain = ${chain} and r.action = any(${actions}::text[]) and r.created_at >= ${after.at}
      ) f
      where (f.created_at, f.rank, f.id) > (${after.at}, ${after.rank}::int, ${after.id})
      order by f.created_at, f.rank, f.id limit ${auditVerifyPageRecordsMax}`.execute(trx)
    for (const row of rows) {
      yield { ...readRecord(row, key), at: row.created_at }
      after = { at: row.created_at, rank: row.rank, id: row.id }
    }
    if (rows.length < auditVerifyPageRecordsMax) return
  }
}

/** Returns the first record that names a seal that does not exist. Seals are numbered from 1 to `last`. */
export function findRecordBeyondSeals(db: Db | Trx, chain: string, last: string) {
  return db
    .selectFrom('audit_records')
    .select(['id', 'seal_sequence'])
    .where('chain', '=', chain)
    .where((where) => where.or([where('seal_sequence', '<', '1'), where('seal_sequence', '>', last)]))
    .orderBy('seal_sequence')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

export function listUnsealedRecordsAfter(db: Db | Trx, chain: string, id: string, limit: number) {
  return db
    .selectFrom('audit_records')
    .selectAll()
    .where('chain', '=', chain)
    .where('seal_sequence', 'is', null)
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}
