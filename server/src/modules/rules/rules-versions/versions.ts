import { type RawBuilder, sql } from 'kysely'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import { idOfSequence, sequenceOfId } from '../../../lib/ids.ts'
import { type Direction, directionOf } from './direction.ts'
import type { RulesDocument } from './document-schema.ts'
import { hashOfRules, readRules } from './rules-document.ts'

/** The publisher of a version, and the change set that the version applies, if any. */
type Publisher = { actorId: string | null; changeSetId?: string | null; now: Date }

/** The newest version as it is stored. */
type Stored = { number: number; document: RulesDocument; hash: Buffer }

/**
 * Locks the rules of a vault until the transaction ends, and returns the newest version. Changes of the rules run one after
 * the other. If the rules were never published, or were changed outside of the service, the present rules become a version,
 * so that the next version shows only the next change.
 */
export async function lockRules(trx: Trx, vaultId: string, now: Date): Promise<Stored> {
  await sql`insert into rules_heads (vault_id, number) values (${vaultId}, 0) on conflict do nothing`.execute(trx)
  await sql`select from rules_heads where vault_id = ${vaultId} for update`.execute(trx)
  return storeVersion(trx, vaultId, { actorId: null, now })
}

/** Publishes the present rules as the next version, if they differ from the newest version. The caller has locked the rules. */
export async function publishRules(trx: Trx, vaultId: string, by: Publisher): Promise<Stored> {
  const stored = await storeVersion(trx, vaultId, by)
  // Without this the database refuses the transaction in a vault with governance.
  await sql`update rules_heads set published_in = pg_current_xact_id() where vault_id = ${vaultId}`.execute(trx)
  return stored
}

async function storeVersion(
  trx: Trx,
  vaultId: string,
  { actorId, changeSetId = null, now }: Publisher,
): Promise<Stored> {
  const { rows } = await sql<Stored>`
    select h.number, v.document, v.hash from rules_heads h
    left join rules_versions v on v.vault_id = h.vault_id and v.number = h.number
    where h.vault_id = ${vaultId}`.execute(trx)
  const newest = rows[0]!
  const document = await readRules(trx, vaultId)
  const hash = hashOfRules(document)
  const isFirst = newest.number === 0
  if (!isFirst && newest.hash.equals(hash)) return newest
  const number = newest.number + 1
  const direction = isFirst ? null : directionOf(newest.document, document)
  await sql`
    insert into rules_versions (vault_id, number, document, hash, author_id, change_set_id, direction, created_at)
    values (${vaultId}, ${number}, ${JSON.stringify(document)}, ${hash}, ${actorId}, ${changeSetId}, ${direction},
      ${now})`.execute(trx)
  await sql`update rules_heads set number = ${number} where vault_id = ${vaultId}`.execute(trx)
  return { number, document, hash }
}

/** Runs a change that needs no votes, such as the acceptance of an invitation, and publishes the new rules. */
export async function publishing<Result>(
  trx: Trx,
  vaultId: string,
  by: Publisher,
  change: () => Promise<Result>,
): Promise<Result> {
  await lockRules(trx, vaultId, by.now)
  const result = await change()
  await publishRules(trx, vaultId, by)
  return result
}

export type VersionRow = {
  number: number
  hash: Buffer
  author: MemberProfile | null
  authorId: string | null
  changeSetId: string | null
  direction: Direction | null
  created_at: Date
}
export type FullVersionRow = VersionRow & { document: RulesDocument }

const columns = sql`
  v.number, v.hash, v.author_id as "authorId", ${profileOfUser(sql.ref('v.author_id'))} as author,
  v.change_set_id as "changeSetId", v.direction, v.created_at`

/** Publishes the first version of a vault whose rules never changed, when the versions are read. */
async function ensureVersion(db: Db, vaultId: string, now: Date): Promise<void> {
  const { rows } = await sql`select from rules_heads where vault_id = ${vaultId} and number > 0`.execute(db)
  if (rows.length === 0) await inTransaction(db, (trx) => lockRules(trx, vaultId, now))
}

/** The versions of a vault, the newest first. */
export async function listVersions(
  db: Db,
  vaultId: string,
  { after, limit, now }: Paging & { now: Date },
): Promise<VersionRow[]> {
  await ensureVersion(db, vaultId, now)
  const { rows } = await sql<VersionRow>`
    select ${columns} from rules_versions v where v.vault_id = ${vaultId}
      ${after === null ? sql`` : sql`and v.number < ${sequenceOfId(after.id)}`}
    order by v.number desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Versions are ordered by their number alone; a cursor names it in the form of an id. */
export const positionOfVersion = ({ created_at: createdAt, number }: VersionRow): Position => ({
  createdAt,
  id: idOfSequence(createdAt, BigInt(number)),
})

export async function findVersion(db: Db | Trx, vaultId: string, number: number): Promise<FullVersionRow | null> {
  const { rows } = await sql<FullVersionRow>`
    select ${columns}, v.document from rules_versions v
    where v.vault_id = ${vaultId} and v.number = ${number}`.execute(db)
  return rows[0] ?? null
}

/** As `findVersion`, for a vault that may have no version yet. */
export async function readVersion(db: Db, vaultId: string, number: number, now: Date): Promise<FullVersionRow | null> {
  await ensureVersion(db, vaultId, now)
  return findVersion(db, vaultId, number)
}

/** As `newestNumber`, and locks the rules as `lockRules` does. */
export async function lockNewestNumber(trx: Trx, vaultId: string): Promise<number> {
  await sql`select from rules_heads where vault_id = ${vaultId} for update`.execute(trx)
  return newestNumber(trx, vaultId)
}

/** Returns the number of the newest version; 0 before the first version. */
export async function newestNumber(db: Db | Trx, vaultId: string): Promise<number> {
  const { rows } = await sql<{ number: number }>`select ${newestVersionNumber(vaultId)} as number`.execute(db)
  return rows[0]!.number
}

/** SQL: the number of the newest version, as a column of another statement. */
export const newestVersionNumber = (vaultId: string): RawBuilder<number> =>
  sql<number>`coalesce((select h.number from rules_heads h where h.vault_id = ${vaultId}), 0)`
