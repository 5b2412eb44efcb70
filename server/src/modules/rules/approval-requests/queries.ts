import { type RawBuilder, sql } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import { profileOf } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { ApprovalRequests } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { Decision } from '../decisions/decision.ts'
import { sharedHoldLock } from '../holds/active.ts'
import type { Beside } from '../votes/ballot.ts'
import type { ApprovalState } from '../votes/compare-approval.ts'
import type { PreparedStep } from '../votes/executor.ts'
import { approvalStateOf, approversOf, isSubjectVisible, type ProfileRow, requirementsOf } from '../votes/queries.ts'
import type { ApproverRow, RequirementState } from '../votes/tally.ts'
import type { RequestStatus } from './lifecycle.ts'
import type { RequestAction, StepResult } from './steps.ts'

/** A request without its votes and profiles. */
export type LockedRequest = RowOf<
  ApprovalRequests,
  {
    action: RequestAction
    status: RequestStatus
    steps: PreparedStep[]
    decision: Decision[]
    results: StepResult[] | null
  }
>

export type RequestRow = LockedRequest & {
  initiator: ProfileRow
  requirements: RequirementState[]
  approvers: ApproverRow[]
}

/** A request that the member may see: as initiator, approver or administrator. */
export async function findRequest(db: Db | Trx, member: Member, id: string): Promise<RequestRow | null> {
  const { rows } = await sql<RequestRow>`
    select ${columns} from approval_requests r join users i on i.id = r.initiator_id
    where r.vault_id = ${member.vault.id} and r.id = ${id} and ${isSubjectVisible('r', member)}`.execute(db)
  return rows[0] ?? null
}

type RequestFilter = { status?: RequestStatus; action?: RequestAction; awaitingMyApproval?: boolean }

/** The requests that the member may see, newest first; one row more than the limit. */
export async function listRequests(
  db: Db,
  member: Member,
  { status, action, awaitingMyApproval = false }: RequestFilter,
  { after, limit, now }: Paging & { now: Date },
): Promise<RequestRow[]> {
  const { rows } = await sql<RequestRow>`
    select ${columns} from approval_requests r join users i on i.id = r.initiator_id
    where r.vault_id = ${member.vault.id} and ${awaitingMyApproval ? awaiting(member, now) : isSubjectVisible('r', member)}
      ${status === undefined ? sql`` : sql`and r.status = ${status}`}
      ${action === undefined ? sql`` : sql`and r.action = ${action}`}
      ${after === null ? sql`` : sql`and (r.created_at, r.id) < (${after.createdAt}, ${after.id})`}
    order by r.created_at desc, r.id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Locks a request, so that votes, cancellation and expiry of it run one after the other. */
export async function lockRequest(
  trx: Trx,
  vaultId: string,
  id: string,
  isVisible: RawBuilder<boolean> = sql`true`,
): Promise<LockedRequest | null> {
  const { rows } = await sql<LockedRequest>`
    select r.* from ${sharedHoldLock(vaultId)} cross join approval_requests r
    where r.vault_id = ${vaultId} and r.id = ${id} and ${isVisible} for update of r`.execute(trx)
  return rows[0] ?? null
}

/** Locks a request that the member sees. @throws 404 */
export async function lockVisibleRequest(trx: Trx, member: Member, id: string): Promise<LockedRequest> {
  const request = await lockRequest(trx, member.vault.id, id, isSubjectVisible('r', member))
  return orNotFound(request, 'Approval request')
}

export function listDueRequests(db: Db, now: Date, limit: number): Promise<{ vault_id: string; id: string }[]> {
  return db
    .selectFrom('approval_requests')
    .select(['vault_id', 'id'])
    .where('status', '=', 'pending')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
}

/** The columns of a request that are compared with its audit records. */
export type StoredRequest = Pick<
  LockedRequest,
  | 'vault_id'
  | 'id'
  | 'action'
  | 'status'
  | 'initiator_id'
  | 'steps'
  | 'payload_hash'
  | 'results'
  | 'resolved_result_id'
  | 'failure_reason'
> & { approval: ApprovalState }

/** @param beside a further column, which is JSON */
export async function listStoredRequests(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
  beside: RawBuilder<unknown> = sql`null`,
): Promise<(StoredRequest & Beside)[]> {
  const { rows } = await sql<StoredRequest & Beside>`
    select r.vault_id, r.id, r.action, r.status, r.initiator_id, r.steps, r.payload_hash, r.results,
      r.resolved_result_id, r.failure_reason, ${beside} as beside,
      ${approvalStateOf(sql.ref('r.vault_id'), sql.ref('r.id'))} as approval
    from approval_requests r where r.vault_id = ${vaultId} and r.id = any(${ids}::text[])`.execute(db)
  return rows
}

const columns = sql`
  r.*, ${profileOf('i')} as initiator, ${requirementsOf(sql.ref('r.vault_id'), sql.ref('r.id'))} as requirements,
  ${approversOf(sql.ref('r.vault_id'), sql.ref('r.id'))} as approvers`

/** The request is pending, and the member is in the snapshot of voters, has not voted and is still entitled to. */
function awaiting({ userId }: Member, now: Date) {
  return sql`r.status = 'pending' and r.expires_at > ${now} and exists (
    select from approval_voters v
    join entitled_voters e on e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id
    where v.vault_id = r.vault_id and v.subject_id = r.id and v.user_id = ${userId} and v.decision is null)`
}
