import { badRequest } from '../../../lib/errors.ts'
import type { Place, Sealer } from '../../../lib/secrets.ts'

/** Where a reader of changes is: a snapshot of the database, and when it was taken. */
export type ChangeCursor = { snapshot: string; takenAt: Date }

/** A longer text has the length of the next multiple, so that a cursor does not show how much is going on. */
const paddedLength = 512

/**
 * Sealed: a snapshot names transactions, and two of them would tell a caller who may see nothing how much others do. Every
 * node of the service opens it.
 */
export function encodeChangeCursor(sealer: Sealer, { snapshot, takenAt }: ChangeCursor): string {
  const text = JSON.stringify([snapshot, takenAt.getTime()])
  const padded = text.padEnd(Math.ceil(text.length / paddedLength) * paddedLength)
  return sealer.seal(place, padded).toString('base64url')
}

const place: Place = { table: '', column: 'cursor of changes', row: [] }

/** @throws 400 when the cursor is not one of ours */
export function decodeChangeCursor(sealer: Sealer, cursor: string): ChangeCursor {
  try {
    const [snapshot, takenAt] = JSON.parse(sealer.open(place, Buffer.from(cursor, 'base64url'))) as [string, number]
    if (!/^\d+:\d+:[\d,]*$/.test(snapshot)) throw new TypeError('not a snapshot')
    return { snapshot, takenAt: new Date(takenAt) }
  } catch {
    throw badRequest('after', 'is not a cursor of changes', 'invalid_cursor')
  }
}
