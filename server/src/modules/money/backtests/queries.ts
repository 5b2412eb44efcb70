import { type Insertable, sql } from 'kysely'
import type { Viewer } from '../../../access/address-scope.ts'
import { isAdministrators } from '../../../access/memberships.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { leasedJobs, type Taken } from '../../../db/leased-jobs.ts'
import type { Backtests } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { exportLeaseSeconds, verificationAttemptsMax } from '../../../lib/limits.ts'
import type { Moves } from '../../rules/rules-versions/under-document.ts'
import type { Rules, TriedPolicy } from './decide-again.ts'
import type { BacktestResult, ChangedDecision } from './evaluate.ts'
import type { backtestStates } from './schema.ts'
import { type Interval, isChangeSeen, type SubjectType } from './stored-decisions.ts'

export type BacktestRow = RowOf<
  Backtests,
  { state: (typeof backtestStates)[number]; policies: TriedPolicy[]; moves: Moves; result: BacktestResult | null }
>

export const backtestJobs = leasedJobs<BacktestRow>({
  table: 'backtests',
  noun: 'backtest',
  attemptsMax: verificationAttemptsMax,
  leaseSeconds: exportLeaseSeconds,
})

export async function findBacktest(db: Db | Trx, vaultId: string, id: string): Promise<BacktestRow | null> {
  const { rows } = await sql<BacktestRow>`
    select * from backtests where vault_id = ${vaultId} and id = ${id}`.execute(db)
  return rows[0] ?? null
}

type OfVoter = { vaultId: string; requesterId: string; requestId: string }

/** Returns an earlier backtest of a voter for the same request and interval, which never change, or null. */
export async function findBacktestOfVoter(
  db: Db,
  { vaultId, requesterId, requestId }: OfVoter,
  { from, to }: Interval,
): Promise<BacktestRow | null> {
  const { rows } = await sql<BacktestRow>`
    select * from backtests
    where vault_id = ${vaultId} and request_id = ${requestId} and requester_id = ${requesterId}
      and from_at = ${from} and to_at = ${to} and state <> 'failed'
    order by created_at desc limit 1`.execute(db)
  return rows[0] ?? null
}

/** Returns null while another backtest of the vault waits or runs. */
export async function insertBacktest(trx: Trx, backtest: Insertable<Backtests>): Promise<BacktestRow | null> {
  wake(trx, 'run-backtests')
  const row = await trx
    .insertInto('backtests')
    .values(backtest)
    .onConflict((conflict) =>
      conflict.column('vault_id').where(sql<boolean>`state in ('queued', 'running')`).doNothing(),
    )
    .returningAll()
    .executeTakeFirst()
  return (row as BacktestRow | undefined) ?? null
}

export async function insertChanges(
  db: Db | Trx,
  { vault_id: vaultId, id }: Pick<Taken, 'vault_id' | 'id'>,
  changed: readonly ChangedDecision[],
): Promise<void> {
  if (changed.length === 0) return
  await sql`
    insert into backtest_changes (vault_id, backtest_id, subject_type, subject_id, change, created_at)
    select ${vaultId}, ${id}, c.type, c.id, c.change, c.created_at from unnest(
      ${changed.map(({ type }) => type)}::text[], ${changed.map(({ id }) => id)}::text[],
      ${changed.map(({ change }) => change)}::text[],
      ${changed.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[]
    ) as c(type, id, change, created_at)
    on conflict do nothing`.execute(db)
}

/** Deletes the changes that an earlier attempt found. */
export async function deleteChanges(db: Db, { vault_id: vaultId, id }: Taken): Promise<void> {
  await sql`delete from backtest_changes where vault_id = ${vaultId} and backtest_id = ${id}`.execute(db)
}

export type ChangeRow = {
  subject_type: SubjectType
  subject_id: string
  change: ChangedDecision['change']
  created_at: Date
}

/** Returns the changes that the viewer may see, newest first; up to one row more than the limit. */
export async function listChanges(
  db: Db,
  viewer: Viewer,
  backtestId: string,
  change: ChangedDecision['change'] | undefined,
  { after, limit }: Paging,
): Promise<ChangeRow[]> {
  const { rows } = await sql<ChangeRow>`
    select subject_type, subject_id, change, created_at from backtest_changes c
    where c.vault_id = ${viewer.vault.id} and c.backtest_id = ${backtestId} and ${isChangeSeen('c', viewer)}
      ${change === undefined ? sql`` : sql`and c.change = ${change}`}
      ${after === null ? sql`` : sql`and (c.created_at, c.subject_id) < (${after.createdAt}::timestamptz, ${after.id})`}
    order by c.created_at desc, c.subject_id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Returns the ids of the groups of the vault and of the group of its administrators. */
export async function listGroupIds(
  db: Db,
  vaultId: string,
): Promise<{ all: string[]; administratorsId: Rules['administratorsId'] }> {
  const { rows } = await sql<{ id: string; isAdministrators: boolean }>`
    select g.id, ${isAdministrators('g')} as "isAdministrators" from policy_groups g where g.vault_id = ${vaultId}`.execute(
    db,
  )
  return { all: rows.map(({ id }) => id), administratorsId: rows.find((row) => row.isAdministrators)!.id }
}
