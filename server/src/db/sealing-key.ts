import { sql } from 'kysely'
import { isSealedBy, markOf, markOfUnbound, type Place, SealError, type Sealer } from '../lib/secrets.ts'
import type { Trx } from './client.ts'

/** A column that holds sealed values. */
export type SealedColumn = {
  table: string
  column: string
  /** The columns of the primary key, in their order. */
  key: readonly string[]
  /** What becomes of a value that is sealed again; by default it stays as it is. `sealer` is the one that opened it. */
  rewrite?: (sealer: Sealer, plain: string) => string
}

/** How many values were sealed again, and which ones open under no key that is known, so that they stay as they are. */
export type Resealed = { resealed: number; unreadable: Place[] }

/** Thrown when the key of the settings is not the one that the database is sealed under. */
export class SealingKeyError extends Error {}

const rowsPerPage = 500

/**
 * Makes sure that the database is sealed under this key. The first time, what was sealed before 0053 is sealed again, each
 * value for its place; that is the only moment at which the service accepts the old format (decision 0043).
 * @throws SealingKeyError when the database is sealed under another key
 */
export async function adoptSealingKey(
  trx: Trx,
  sealer: Sealer,
  columns: readonly SealedColumn[],
  now: Date,
): Promise<Resealed> {
  // Two nodes may start at once.
  await sql`select pg_advisory_xact_lock(hashtextextended('sealing_key', 0))`.execute(trx)
  const keyId = await findKeyId(trx)
  if (keyId !== null) {
    if (!keyId.equals(sealer.keyId)) throw wrongKey()
    return { resealed: 0, unreadable: [] }
  }
  await lockColumns(trx, columns)
  await sql`insert into sealing_key (key_id, sealed_at) values (${sealer.keyId}, ${now})`.execute(trx)
  const open = (_place: Place, sealed: Buffer) => {
    // The old format has random bytes where the present one names the key.
    if (isSealedBy(sealer.keyId, sealed)) throw new SealingKeyError(keyIdRemoved)
    return sealer.openUnbound(sealed)
  }
  const outcome = await resealAll(trx, columns, { open, mark: markOfUnbound, from: sealer, to: sealer })
  if (outcome.resealed === 0 && outcome.unreadable.length > 0) throw wrongKey()
  return outcome
}

/**
 * Seals everything again under another key, at once or not at all. Writers wait for it, and those that still have the
 * previous key are refused by the database afterwards.
 * @returns null when it is sealed under `next` already
 * @throws SealingKeyError when it is sealed under neither of the two
 */
export async function rotateSealingKey(
  trx: Trx,
  { previous, next }: { previous: Sealer; next: Sealer },
  columns: readonly SealedColumn[],
  now: Date,
): Promise<Resealed | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended('sealing_key', 0))`.execute(trx)
  const keyId = await findKeyId(trx)
  if (keyId?.equals(next.keyId)) return null
  if (keyId === null || !keyId.equals(previous.keyId)) throw wrongKey('The previous key')
  // A transaction that has sealed something and has not committed it yet is waited for.
  await lockColumns(trx, columns)
  await sql`update sealing_key set key_id = ${next.keyId}, sealed_at = ${now}`.execute(trx)
  return resealAll(trx, columns, { open: previous.open, mark: markOf, from: previous, to: next })
}

const keyIdRemoved =
  'The database holds secrets of the present format, but its row in sealing_key, which says under which key they are sealed, ' +
  'was removed. Restore a backup; nothing of the old format is accepted'

const wrongKey = (name = 'STRONGROOM_SECRET_KEY') =>
  new SealingKeyError(
    `${name} is not the key that the secrets of this database are sealed under; "strongroom secrets rotate" changes the key`,
  )

async function findKeyId(trx: Trx): Promise<Buffer | null> {
  const { rows } = await sql<{ key_id: Buffer }>`select key_id from sealing_key for update`.execute(trx)
  return rows[0]?.key_id ?? null
}

/** Readers go on. */
async function lockColumns(trx: Trx, columns: readonly SealedColumn[]): Promise<void> {
  const tables = [...new Set(columns.map(({ table }) => table))].sort()
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in share row exclusive mode`.execute(trx)
}

/** How a value is opened, what mark it has, by whom, and who seals it again. */
type Change = {
  open: (place: Place, sealed: Buffer) => string
  mark: (sealed: Buffer) => Buffer
  from: Sealer
  to: Sealer
}

async function resealAll(trx: Trx, columns: readonly SealedColumn[], change: Change): Promise<Resealed> {
  const total: Resealed = { resealed: 0, unreadable: [] }
  for (const column of columns) {
    let after: string[] | null = null
    do after = await resealPage(trx, column, change, { after, total })
    while (after !== null)
  }
  return total
}

/** Seals a page of a column again; returns where the next page begins, or null after the last one. */
async function resealPage(
  trx: Trx,
  sealedColumn: SealedColumn,
  change: Change,
  { after, total }: { after: string[] | null; total: Resealed },
): Promise<string[] | null> {
  const { table, column, key } = sealedColumn
  const keys = sql.join(key.map((name) => sql.ref(name)))
  const { rows } = await sql<{ row: string[]; sealed: Buffer }>`
    select array[${keys}]::text[] as row, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null ${after === null ? sql`` : sql`and (${keys}) > (${sql.join(after)})`}
    order by ${keys} limit ${rowsPerPage}`.execute(trx)
  const done: { row: string[]; sealed: Buffer }[] = []
  for (const { row, sealed } of rows) {
    const again = reseal(sealedColumn, change, { table, column, row }, sealed)
    if (again === null) total.unreadable.push({ table, column, row })
    else done.push({ row, sealed: again })
  }
  total.resealed += done.length
  if (done.length > 0) {
    const lists = key.map((_name, i) => sql`${done.map(({ row }) => row[i])}::text[]`)
    const names = sql.join(key.map((name) => sql.ref(`v.${name}`)))
    await sql`
      update ${sql.table(table)} t set ${sql.ref(column)} = v.sealed
      from unnest(${sql.join([...lists, sql`${done.map(({ sealed }) => sealed)}::bytea[]`])})
        as v(${sql.join([...key, 'sealed'].map((name) => sql.ref(name)))})
      where (${sql.join(key.map((name) => sql.ref(`t.${name}`)))}) = (${names})`.execute(trx)
  }
  return rows.length < rowsPerPage ? null : rows.at(-1)!.row
}

/** Null: it opens under no key that is known, so nobody can read it. It stays, in case its key is found. */
function reseal(
  { rewrite }: SealedColumn,
  { open, mark, from, to }: Change,
  place: Place,
  sealed: Buffer,
): Buffer | null {
  try {
    const plain = open(place, sealed)
    return to.seal(place, rewrite === undefined ? plain : rewrite(from, plain), mark(sealed))
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}
