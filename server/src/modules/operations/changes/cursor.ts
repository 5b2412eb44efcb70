import { badRequest } from '../../../lib/errors.ts'
import type { Place as SealedPlace, Sealer } from '../../../lib/secrets.ts'

/**
 * A snapshot, and the mark of its database. A restore or a promotion changes the mark, because the transaction numbers of the
 * snapshot then belong to other transactions.
 */
export type Place = { snapshot: string; database: string }
/** The position of a reader of changes, and the time at which it was taken. */
type ChangeCursor = { place: Place; takenAt: Date }

/**
 * A longer text is padded to the next multiple, so that the length of a cursor does not reveal the number of running
 * transactions.
 */
const paddedLength = 512

/**
 * Encodes and seals a cursor. A snapshot names transactions, so that two snapshots would tell a caller how much others
 * do. Every node of the service can open the cursor.
 */
export function encodeChangeCursor(sealer: Sealer, { place, takenAt }: ChangeCursor): string {
  const text = JSON.stringify([place.snapshot, takenAt.getTime(), place.database])
  const padded = text.padEnd(Math.ceil(text.length / paddedLength) * paddedLength)
  return sealer.seal(sealedPlace, padded).toString('base64url')
}

const sealedPlace: SealedPlace = { table: '', column: 'cursor of changes', row: [] }

/** @throws 400 when the cursor was not issued by this service */
export function decodeChangeCursor(sealer: Sealer, cursor: string): ChangeCursor {
  try {
    const opened = sealer.open(sealedPlace, Buffer.from(cursor, 'base64url'))
    // Cursors of earlier versions name no database, so that their readers begin anew.
    const [snapshot, takenAt, database = ''] = JSON.parse(opened) as [string, number, string?]
    if (!/^\d+:\d+:[\d,]*$/.test(snapshot)) throw new TypeError('not a snapshot')
    return { place: { snapshot, database }, takenAt: new Date(takenAt) }
  } catch {
    throw badRequest('after', 'is not a cursor of changes', 'invalid_cursor')
  }
}
