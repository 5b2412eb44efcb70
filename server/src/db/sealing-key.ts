import { sql } from 'kysely'
import {
  isDirectedBy,
  isSealedBy,
  markOf,
  markOfUnbound,
  type Place,
  SealError,
  type Sealer,
  sealedVersion,
} from '../lib/secrets.ts'
import type { Db, Trx } from './client.ts'

/** A column that holds sealed values. */
export type SealedColumn = {
  table: string
  column: string
  /** The columns of the primary key, in their order. */
  key: readonly string[]
  /** The recipient of the opened value, and the property that binds the value to the recipient. */
  goesTo: string
  /** SQL: an expression on the row `t` that names the recipient of the value; `destination` and `rewrite` get its text. */
  context?: string
  /** Returns the destination for which the value is sealed. */
  destination?: (context: string) => string
  /** Changes a value when it is sealed again; without it the value stays as it is. `sealer` is the sealer that opened the value. */
  rewrite?: (sealer: Sealer, plain: string, context: string) => string
}

/** The number of values that were sealed again, and the places of values that no known key opens. Those stay as they are. */
export type Resealed = { resealed: number; unreadable: Place[] }

/** Thrown when the key of the settings is not the key under which the database is sealed. */
class SealingKeyError extends Error {}

const rowsPerPage = 500

/**
 * Runs once at an adoption, before any value is sealed again. It returns a function that decides whether a value may be sealed
 * again; other values stay as they are.
 */
type BeforeAdoption = () => Promise<(place: Place) => boolean>

/**
 * Makes sure that the database is sealed under this key. The first time, values in an earlier format are sealed again, each for
 * its place and destination. The service accepts an earlier format only at that moment (decisions 0043 and 0067).
 * @throws SealingKeyError when the database is sealed under another key
 */
export async function adoptSealingKey(
  trx: Trx,
  sealer: Sealer,
  columns: readonly SealedColumn[],
  { now, before }: { now: Date; before: BeforeAdoption },
): Promise<Resealed> {
  if (isAdopted(await findKey(trx), sealer)) return nothingResealed()
  await lockKey(trx)
  const present = await findKey(trx)
  if (isAdopted(present, sealer)) return nothingResealed()
  await lockColumns(trx, columns)
  await writeFormat(trx, sealer.keyId, now)
  const mayOpen = await before()
  const outcome = await resealAll(trx, columns, {
    open: present === null ? openUnbound(sealer) : openUndirected(sealer),
    mark: present === null ? markOfUnbound : markOf,
    mayOpen,
    from: sealer,
    to: sealer,
  })
  if (present === null && outcome.resealed === 0 && outcome.unreadable.length > 0) throw wrongKey()
  return outcome
}

const nothingResealed = (): Resealed => ({ resealed: 0, unreadable: [] })

/** @throws SealingKeyError when the database is sealed under another key */
function isAdopted(present: PresentKey | null, sealer: Sealer): boolean {
  if (present !== null && !present.keyId.equals(sealer.keyId)) throw wrongKey()
  return present?.format === sealedVersion
}

/** Waits for all writers of audit records, and makes later writers wait. Two nodes that start at once wait for each other too. */
async function lockKey(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('sealing_key', 0))`.execute(trx)
}

async function writeFormat(trx: Trx, keyId: Buffer, now: Date): Promise<void> {
  await sql`
    insert into sealing_key (key_id, format, sealed_at) values (${keyId}, ${sealedVersion}, ${now})
    on conflict (only_row) do update set format = excluded.format, sealed_at = excluded.sealed_at`.execute(trx)
}

const openUnbound =
  (sealer: Sealer): Change['open'] =>
  (_place, sealed) => {
    // The format before 0053 has random bytes at the place of the id of the key.
    if (isSealedBy(sealer.keyId, sealed)) throw new SealingKeyError(keyIdRemoved)
    return sealer.openUnbound(sealed)
  }

const openUndirected =
  (sealer: Sealer): Change['open'] =>
  (place, sealed) => {
    if (isDirectedBy(sealer.keyId, sealed)) throw new SealingKeyError(keyIdRemoved)
    return sealer.openUndirected(place, sealed)
  }

/**
 * Seals every value again under another key, in one transaction. Writers wait for it. Afterwards the database refuses writers
 * that still have the previous key.
 * @returns null when the database is already sealed under `next`
 * @throws SealingKeyError when it is sealed under neither key
 */
export async function rotateSealingKey(
  trx: Trx,
  { previous, next }: { previous: Sealer; next: Sealer },
  columns: readonly SealedColumn[],
  now: Date,
): Promise<Resealed | null> {
  await lockKey(trx)
  const present = await findKey(trx)
  if (present?.keyId.equals(next.keyId)) return null
  if (present === null || !present.keyId.equals(previous.keyId)) throw wrongKey('The previous key')
  if (present.format !== sealedVersion) throw new SealingKeyError(notAdopted)
  // This waits for transactions that have sealed a value and have not committed it yet.
  await lockColumns(trx, columns)
  await sql`update sealing_key set key_id = ${next.keyId}, sealed_at = ${now}`.execute(trx)
  const change = { open: previous.open, mark: markOf, mayOpen: () => true, from: previous, to: next }
  return resealAll(trx, columns, change)
}

const keyIdRemoved =
  'The database holds secrets of the present format, but its row in sealing_key, which says under which key they are sealed, ' +
  'was removed or set back. Restore a backup; nothing of the old format is accepted'

const notAdopted =
  'The secrets of this database have the format of an earlier version; start a node of this version with the previous key first'

const wrongKey = (name = 'STRONGROOM_SECRET_KEY') =>
  new SealingKeyError(
    `${name} is not the key that the secrets of this database are sealed under; "strongroom secrets rotate" changes the key`,
  )

type PresentKey = { keyId: Buffer; format: number }

async function findKey(trx: Trx): Promise<PresentKey | null> {
  const { rows } = await sql<PresentKey>`select key_id as "keyId", format from sealing_key`.execute(trx)
  return rows[0] ?? null
}

/** Returns the id of the key under which the database is sealed; null when no node has started on it. */
export async function findSealingKeyId(db: Db | Trx): Promise<Buffer | null> {
  const { rows } = await sql<{ keyId: Buffer }>`select key_id as "keyId" from sealing_key`.execute(db)
  return rows[0]?.keyId ?? null
}

/** Locks the tables of the columns against writers. Readers go on. */
async function lockColumns(trx: Trx, columns: readonly SealedColumn[]): Promise<void> {
  const tables = [...new Set(columns.map(({ table }) => table))].sort()
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in share row exclusive mode`.execute(trx)
}

/** The way in which values are opened, marked and sealed again, and the sealers that do it. */
type Change = {
  open: (place: Place, sealed: Buffer) => string
  mark: (sealed: Buffer) => Buffer
  /** Returns true if a value may be opened. */
  mayOpen: (place: Place) => boolean
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

/** Seals a page of a column again. Returns the position of the next page, or null after the last page. */
async function resealPage(
  trx: Trx,
  sealedColumn: SealedColumn,
  change: Change,
  { after, total }: { after: string[] | null; total: Resealed },
): Promise<string[] | null> {
  const { table, column, key, context = 'null' } = sealedColumn
  const keys = sql.join(key.map((name) => sql.ref(name)))
  const { rows } = await sql<{ row: string[]; sealed: Buffer; context: string | null }>`
    select array[${keys}]::text[] as row, ${sql.ref(column)} as sealed, (${sql.raw(context)})::text as context
    from ${sql.table(table)} t
    where ${sql.ref(column)} is not null ${after === null ? sql`` : sql`and (${keys}) > (${sql.join(after)})`}
    order by ${keys} limit ${rowsPerPage}`.execute(trx)
  const done: { row: string[]; sealed: Buffer }[] = []
  for (const { row, sealed, context } of rows) {
    const again = reseal(sealedColumn, change, { row, sealed, context: context ?? '' })
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

/** Returns null for a value that no known key opens, or that may not be opened. The value then stays as it is, in case its key is found. */
function reseal(
  { table, column, destination, rewrite }: SealedColumn,
  { open, mark, mayOpen, from, to }: Change,
  { row, sealed, context }: { row: string[]; sealed: Buffer; context: string },
): Buffer | null {
  const place: Place = {
    table,
    column,
    row,
    ...(destination === undefined ? {} : { destination: destination(context) }),
  }
  if (!mayOpen(place)) return null
  try {
    const plain = open(place, sealed)
    return to.seal(place, rewrite === undefined ? plain : rewrite(from, plain, context), mark(sealed))
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}
