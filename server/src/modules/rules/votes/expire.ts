import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { SubjectRow } from './ballot.ts'

const batchMax = 100

/** A type of subject whose time to vote ends. */
type ExpiringSubject<Row extends SubjectRow> = {
  noun: string
  listDue(db: Db, now: Date, limit: number): Promise<{ vault_id: string; id: string }[]>
  lock(trx: Trx, vaultId: string, id: string): Promise<Row | null>
  /** Expires the locked subject. Does nothing when the subject no longer waits. */
  expire(trx: Trx, row: Row, now: Date): Promise<void>
}

/** Ends the subjects whose time to vote is over. */
export async function expireDue<Row extends SubjectRow>(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  { noun, listDue, lock, expire }: ExpiringSubject<Row>,
): Promise<void> {
  const now = clock()
  for (const { vault_id: vaultId, id } of await listDue(db, now, batchMax)) {
    try {
      await inTransaction(db, async (trx) => {
        const row = await lock(trx, vaultId, id)
        if (row !== null) await expire(trx, row, now)
      })
    } catch (error) {
      // A failure must not prevent the expiry of the subjects after it.
      log.error({ err: error, vaultId, subjectId: id }, `${noun} not expired`)
    }
  }
}
