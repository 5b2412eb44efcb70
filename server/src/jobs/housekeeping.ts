import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import {
  changeLogHours,
  deviceCookieDays,
  exportRecordTtlHours,
  givenUpMailDays,
  idempotencyTtlHours,
  purgedRowsPerTransactionMax,
  replacedImageHours,
  signInAttemptTtlHours,
  verificationTtlHours,
} from '../lib/limits.ts'
import { isAwaited, isShown } from '../modules/registry/images/queries.ts'

/**
 * Deletes stored answers, links, challenges, attempts, given-up mails, report files, verifications, backtests, sessions and
 * devices that have expired, and images that no subject shows. One node at a time does this work.
 */
export async function deleteExpiredRows({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  for (const [table, isExpired] of expiredRows(clock())) await deleteWhere(db, table, isExpired)
}

/** Returns the condition of expired rows for each table. Tables of dependent rows come first. */
function expiredRows(now: Date): [table: string, isExpired: RawBuilder<unknown>][] {
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
  return [
    ['idempotency_keys', sql`created_at < ${ago(idempotencyTtlHours)}`],
    ['magic_links', sql`expires_at < ${now}`],
    ['used_passkey_challenges', sql`expires_at < ${now}`],
    ['identity_links', sql`expires_at < ${now}`],
    ['used_provider_answers', sql`expires_at < ${now}`],
    ['sign_in_attempts', sql`attempted_at < ${ago(signInAttemptTtlHours)}`],
    ['failed_redemptions', sql`failed_at < ${ago(signInAttemptTtlHours)}`],
    ['known_devices', sql`last_seen_at < ${ago(deviceCookieDays * 24)}`],
    [
      'report_export_chunks',
      sql`(vault_id, export_id) in (select vault_id, id from report_exports where expires_at < ${now})`,
    ],
    ['ledger_verifications', sql`created_at < ${ago(verificationTtlHours)}`],
    [
      'backtest_changes',
      sql`(vault_id, backtest_id) in (select vault_id, id from backtests where created_at < ${ago(verificationTtlHours)})`,
    ],
    ['backtests', sql`created_at < ${ago(verificationTtlHours)}`],
    ['report_exports', sql`expires_at < ${ago(exportRecordTtlHours)}`],
    ['queued_mails', sql`next_attempt_at is null and created_at < ${ago(givenUpMailDays * 24)}`],
    ['changes', sql`changed_at < ${ago(changeLogHours)}`],
    [
      'images',
      sql`created_at < ${ago(replacedImageHours)} and not ${isShown('images')} and not ${isAwaited('images')}`,
    ],
    ['sessions', sql`expires_at < ${now} or ends_at < ${now}`],
  ]
}

/** Deletes rows in short transactions, so that no lock is held for long, even with many rows. */
async function deleteWhere(db: Db, table: string, isExpired: RawBuilder<unknown>): Promise<void> {
  for (;;) {
    const deleted = await inTransaction(db, async (trx) => {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)}
          where (${isExpired}) and (select pg_try_advisory_xact_lock(hashtextextended('strongroom housekeeping', 0)))
          limit ${purgedRowsPerTransactionMax}))`.execute(trx)
      return Number(numAffectedRows ?? 0n)
    })
    if (deleted < purgedRowsPerTransactionMax) return
  }
}
