import type pg from 'pg'
import { badField, cursorLost } from '../errors.ts'
import { changesMax } from '../limits.ts'
import type { ChangeFeed, Held } from './change-feed.ts'
import type { Changes, ChangesQuery } from './change-protocol.ts'
import { type ChangedRow, depthColumn, placeColumns, toTransferChange } from './transfer-row.ts'

type Parts = { pool: pg.Pool; feed: ChangeFeed }

/** A place in the order of changes: the last change that was read, and when it was read. */
type Place = { mark: string; number: string }

/**
 * Returns the state of the transfers of a client that changed after a cursor, in the order of their last change; a transfer that
 * changes again moves to the end. Without a cursor, returns no transfers and the cursor of this moment. If nothing changed, waits for
 * the first change.
 *
 * @throws 400 for a cursor that is not of this client, 410 for a cursor whose changes this database does not have
 */
export async function listChanges(
  { pool, feed }: Parts,
  clientId: string,
  { after, limit = String(changesMax), wait = '0' }: ChangesQuery,
  onClosed: (end: () => void) => void,
): Promise<Changes> {
  if (after === undefined) return { changes: [], cursor: toCursor(clientId, await readEnd(pool)) }
  const place = await resume(pool, readCursor(clientId, after))
  const until = performance.now() + Number(wait) * 1_000
  const held = wait === '0' ? null : feed.hold(clientId)
  if (held !== null) onClosed(held.end)
  try {
    const rows = await readOrWait(() => readChanges(pool, clientId, place.number, Number(limit)), held, until)
    const number = rows.at(-1)?.number ?? place.number
    return { changes: rows.map(toTransferChange), cursor: toCursor(clientId, { ...place, number }) }
  } finally {
    held?.end()
  }
}

async function readOrWait(read: () => Promise<ChangedRow[]>, held: Held | null, until: number): Promise<ChangedRow[]> {
  for (;;) {
    const rows = await read()
    const left = until - performance.now()
    if (rows.length > 0 || held === null || held.isOver() || left <= 0) return rows
    await held.change(left)
  }
}

async function readChanges(pool: pg.Pool, clientId: string, after: string, limit: number): Promise<ChangedRow[]> {
  const { rows } = await pool.query<ChangedRow>({
    name: 'changes-after',
    text: `select c.number, t.id, t.status, t.tx_hash, t.fee, ${depthColumn}, t.block_time, t.failure_reason, t.network,
             t.from_address, t.to_address, t.contract_address, t.amount, ${placeColumns}
           from wallet.changes c join wallet.transfers t on t.client_id = c.client_id and t.id = c.id
           left join wallet.follows f on f.network = t.network
           where c.client_id = $1 and c.number > $2 order by c.number limit $3`,
    values: [clientId, after, limit],
  })
  return rows
}

/** Returns the place of the last committed change. Later changes have greater numbers. */
async function readEnd(pool: pg.Pool): Promise<Place> {
  const { rows } = await pool.query<Place>(
    'select wallet.present_epoch() as mark, wallet.last_change()::text as number',
  )
  return rows[0]!
}

/** Returns the place with the present mark. @throws 410 when a change up to the place was lost */
async function resume(pool: pg.Pool, { mark, number }: Place): Promise<Place> {
  const { rows } = await pool.query<{ mark: string; is_here: boolean }>(
    `select wallet.present_epoch() as mark, exists (
       select from wallet.epochs e where e.mark = $1 and $2 <= (
         select coalesce(
           (select n.began_after from wallet.epochs n where n.number > e.number order by n.number limit 1),
           wallet.last_change()))) as is_here`,
    [mark, number],
  )
  if (!rows[0]!.is_here) throw cursorLost()
  return { mark: rows[0]!.mark, number }
}

const toCursor = (clientId: string, { mark, number }: Place): string =>
  Buffer.from(`${clientId} ${mark} ${number}`).toString('base64url')

function readCursor(clientId: string, cursor: string): Place {
  const parts = /^([0-9a-f-]{36}) ([0-9a-f]{32}) (0|[1-9][0-9]{0,17})$/.exec(
    Buffer.from(cursor, 'base64url').toString(),
  )
  if (parts === null || parts[1] !== clientId) throw badField('after', 'is not a cursor of this client')
  return { mark: parts[2]!, number: parts[3]! }
}
