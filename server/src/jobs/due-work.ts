import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { WakeableTask } from '../db/commits.ts'
import { vaultsIn } from '../modules/money/transfers/vaults-in-queue.ts'

type Table = 'payouts' | 'approval_requests' | 'change_sets'
type Jobs = 'report_exports' | 'ledger_verifications' | 'backtests'

const waiting = (table: Table, status: string, column: 'expires_at' | 'apply_at', now: Date) => sql`
  select from ${sql.table(table)} where status = ${sql.lit(status)} and ${sql.ref(column)} <= ${now}`
const attempted = (table: 'stops_due' | 'queued_mails' | 'notifications', now: Date) => sql`
  select from ${sql.table(table)} where next_attempt_at <= ${now}`
const leased = (table: Jobs, now: Date) => sql`
  select from ${sql.table(table)} where state = 'queued' or (state = 'running' and leased_until < ${now})`

/**
 * SQL, by task: selects rows if the task may have work. A task with work always has such rows. A task with such rows may find that it
 * has no work.
 */
const signs = {
  'expire-transfers': (now) => sql`
    select from ${vaultsIn('votes')} v
    join deliveries d on d.queue = 'votes' and d.vault_id = v.vault_id and d.next_attempt_at <= ${now}`,
  'expire-payouts': (now) => waiting('payouts', 'awaiting_approval', 'expires_at', now),
  'expire-approvals': (now) => waiting('approval_requests', 'pending', 'expires_at', now),
  'apply-rules': (now) => waiting('change_sets', 'scheduled', 'apply_at', now),
  'seal-audit': () => sql`select from audit_records where seal_sequence is null`,
  'seal-ledger': () => sql`select from ledger_unsealed`,
  'tell-stops': (now) => attempted('stops_due', now),
  'make-exports': (now) => leased('report_exports', now),
  'verify-ledgers': (now) => leased('ledger_verifications', now),
  'run-backtests': (now) => leased('backtests', now),
  'send-mails': (now) => attempted('queued_mails', now),
  'send-notifications': (now) => attempted('notifications', now),
} satisfies Partial<Record<WakeableTask | Expiry, Sign>>

type Sign = (now: Date) => RawBuilder<unknown>
type Expiry = 'expire-transfers' | 'expire-payouts' | 'expire-approvals' | 'apply-rules'

/** The tasks for which `listDueTasks` looks for work. */
export const lookedFor: ReadonlySet<string> = new Set(Object.keys(signs))

/** Returns the names of the tasks that may have work at `now`. */
export async function listDueTasks(db: Db, now: Date): Promise<string[]> {
  const found = Object.entries<Sign>(signs).map(([task, sign]) => sql`exists (${sign(now)}) as ${sql.id(task)}`)
  const { rows } = await sql<Record<string, boolean>>`select ${sql.join(found)}`.execute(db)
  return Object.entries(rows[0]!).flatMap(([task, isDue]) => (isDue ? [task] : []))
}
