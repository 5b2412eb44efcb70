import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { AppError, conflict } from '../../../lib/errors.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { differenceFromRecord } from '../approval-requests/compare-request-record.ts'
import { listStoredRequests } from '../approval-requests/queries.ts'
import { readGovernance } from '../rules-versions/read-governance.ts'
import { lockNewestNumber } from '../rules-versions/versions.ts'
import { whatChanged } from './actions.ts'
import { announceOutcome, type Engine, outdated } from './apply.ts'
import { type LockedChangeSet, listDue, lockChangeSet, updateChangeSetRow } from './queries.ts'
import { countValidVotes } from './quorum.ts'
import { applyAndMark, getAuthor, type RulesPayload } from './rules-executor.ts'

const batchMax = 20

/**
 * Applies the approved changes whose time has come. The row is locked, and its end is written in the transaction that applies
 * the changes, so that they are applied once, and not at all by a node that dies.
 */
export async function applyDueChangeSets(engine: Engine): Promise<void> {
  const { db, clock, log } = engine.deps
  const now = clock()
  for (const { vault_id: vaultId, id } of await listDue(db, now, batchMax)) {
    try {
      await engine.governed.withProbe((probed) =>
        inTransaction(db, (trx) => applyDue(trx, engine, { vaultId, id, now, probed })),
      )
    } catch (error) {
      // A change set whose wallet service does not answer is tried again later; other change sets do not wait for it.
      log.error({ err: error, vaultId, changeSetId: id }, 'change set not applied')
    }
  }
}

type Due = { vaultId: string; id: string; now: Date; probed: unknown }

async function applyDue(trx: Trx, engine: Engine, due: Due): Promise<void> {
  const { vaultId, id, now } = due
  const set = await lockChangeSet(trx, vaultId, id)
  if (set === null || set.status !== 'scheduled' || set.apply_at === null || set.apply_at > now) return
  await sql`savepoint apply_rules`.execute(trx)
  try {
    await applyScheduled(trx, engine, set, due)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    await sql`rollback to savepoint apply_rules`.execute(trx)
    await fail(trx, set, error, due)
  }
}

/**
 * Checks again the rules, the author and each voter, which may have changed while the change set waited.
 * @throws 409
 */
async function applyScheduled(
  trx: Trx,
  engine: Engine,
  set: LockedChangeSet,
  { vaultId, id, now, probed }: Due,
): Promise<void> {
  const requestId = set.request_id!
  if ((await lockNewestNumber(trx, vaultId)) !== set.base_version) throw outdated(await whatChanged(trx, vaultId, set))
  const [request] = await listStoredRequests(trx, vaultId, [requestId])
  const records = await listRecordsOf(trx, vaultId, 'approval_request', [requestId])
  const difference = request === undefined ? 'it is not there' : differenceFromRecord(request, records)
  if (difference !== null) {
    throw conflict('differs_from_record', `The request differs from its audit records: ${difference}`)
  }
  const { threshold, approverGroupId } = await readGovernance(trx, vaultId)
  const member = await getAuthor(trx, vaultId, set.author_id)
  const needed = threshold + (member.kind === 'service' ? 1 : 0)
  const valid = await countValidVotes(trx, vaultId, { requestId, approverGroupId })
  if (valid < needed) {
    throw conflict('quorum_unreachable', `Only ${valid} of the ${needed} votes still count`)
  }
  // The votes are bound to the changes in the request, so these are applied, not those in the row of the change set.
  const { changes, direction } = request!.steps[0]!.step.payload as RulesPayload
  await applyAndMark(
    trx,
    engine,
    { id, changes, secrets: set.secrets, direction, document: set.document },
    { member, now, probed },
  )
}

async function fail(trx: Trx, set: LockedChangeSet, { reason, message }: AppError, due: Due): Promise<void> {
  const verb = reason === 'rules_changed' ? 'stale' : 'failed'
  await updateChangeSetRow(trx, due, { status: verb, failure_reason: message, resolved_at: due.now })
  const outcome = {
    verb,
    how: 'could not take effect',
    details: { reason: message },
    after: { reason: message },
  } as const
  await announceOutcome(trx, { vaultId: due.vaultId, actorId: null, now: due.now }, set, outcome)
}
