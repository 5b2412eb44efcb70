import { badRequest } from '../../../lib/errors.ts'
import type { Place, Sealer } from '../../../lib/secrets.ts'

/** The position of a reader of changes: a snapshot of the database and the time at which it was taken. */
export type ChangeCursor = { snapshot: string; takenAt: Date }

/**
 * A longer text is padded to the next multiple, so that the length of a cursor does not reveal the number of running
 * transactions.
 */
const paddedLength = 512

/**
 * Encodes and seals a cursor. A snapshot names transactions, so that two snapshots would tell a caller how much others
 * do. Every node of the service can open the cursor.
 */
export function encodeChangeCursor(sealer: Sealer, { snapshot, takenAt }: ChangeCursor): string {
  const text = JSON.stringify([snapshot, takenAt.getTime()])
  const padded = text.padEnd(Math.ceil(text.length / paddedLength) * paddedLength)
  return sealer.seal(place, padded).toString('base64url')
}

const place: Place = { table: '', column: 'cursor of changes', row: [] }

/** @throws 400 when the cursor was not issued by this service */
export function decodeChangeCursor(sealer: Sealer, cursor: string): ChangeCursor {
  try {
    const [snapshot, takenAt] = JSON.parse(sealer.open(place, Buffer.from(cursor, 'base64url'))) as [string, number]
    if (!/^\d+:\d+:[\d,]*$/.test(snapshot)) throw new TypeError('not a snapshot')
    return { snapshot, takenAt: new Date(takenAt) }
  } catch {
    throw badRequest('after', 'is not a cursor of changes', 'invalid_cursor')
  }
}
