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
const atOnce = 4
const pauseSecondsMax = 300

/** The change sets that could not be tried to the end, with the next attempt of this node. */
export type Postponed = Map<string, { attempts: number; nextAttempt: Date }>

/**
 * Applies the approved changes whose time has come. The row is locked, and its end is written in the transaction that applies
 * the changes, so that they are applied once, and not at all by a node that dies. A vault has one place in a run, and a change set
 * whose wallet service does not answer comes after the others of its vault, so that it stops no other change.
 */
export async function applyDueChangeSets(engine: Engine, postponed: Postponed = new Map()): Promise<void> {
  const { db, clock } = engine.deps
  const now = clock()
  const { later, tried } = attemptsOf(postponed, now)
  const left = await listDue(db, now, { later, tried, limit: batchMax })
  const applyInTurn = async () => {
    for (let due = left.shift(); due !== undefined; due = left.shift()) {
      const { vault_id: vaultId, id } = due
      await applyOrPostpone(engine, { vaultId, id, now }, postponed)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, applyInTurn))
}

/** Returns the change sets that are not tried before a later time, and those that are tried after the others of their vault. */
function attemptsOf(postponed: Postponed, now: Date): { later: string[]; tried: string[] } {
  const sinceNextAttempt = ({ nextAttempt }: { nextAttempt: Date }) => now.getTime() - nextAttempt.getTime()
  for (const [id, attempt] of postponed) {
    // Another node, or a person, ended it.
    if (sinceNextAttempt(attempt) > 10 * pauseSecondsMax * 1_000) postponed.delete(id)
  }
  const later = [...postponed].filter(([, attempt]) => sinceNextAttempt(attempt) < 0).map(([id]) => id)
  return { later, tried: [...postponed.keys()] }
}

async function applyOrPostpone(engine: Engine, due: Omit<Due, 'probed'>, postponed: Postponed): Promise<void> {
  const { deps, governed } = engine
  const { vaultId, id, now } = due
  try {
    await governed
      .withProbe((probed) => inTransaction(deps.db, (trx) => applyDue(trx, engine, { ...due, probed })))
      .catch((error) => failUnlessLater(engine, error, due))
    postponed.delete(id)
  } catch (error) {
    const attempts = (postponed.get(id)?.attempts ?? 0) + 1
    const pauseSeconds = Math.min(2 ** attempts, pauseSecondsMax)
    postponed.set(id, { attempts, nextAttempt: new Date(now.getTime() + pauseSeconds * 1_000) })
    deps.log.error({ err: error, vaultId, changeSetId: id, pauseSeconds }, 'change set not applied')
  }
}

/** Ends a change set for a refusal that came between its transactions, such as that of a forbidden wallet service. */
async function failUnlessLater({ deps }: Engine, error: unknown, due: Omit<Due, 'probed'>): Promise<void> {
  if (!isRefusal(error)) throw error
  await inTransaction(deps.db, async (trx) => {
    const set = await lockDue(trx, due)
    if (set !== null) await fail(trx, set, error, due)
  })
}

const isRefusal = (error: unknown): error is AppError => error instanceof AppError && error.status < 500

type Due = { vaultId: string; id: string; now: Date; probed: unknown }

async function applyDue(trx: Trx, engine: Engine, due: Due): Promise<void> {
  const set = await lockDue(trx, due)
  if (set === null) return
  await sql`savepoint apply_rules`.execute(trx)
  try {
    await applyScheduled(trx, engine, set, due)
  } catch (error) {
    if (!isRefusal(error)) throw error
    await sql`rollback to savepoint apply_rules`.execute(trx)
    await fail(trx, set, error, due)
  }
}

/** Locks a change set, if it still waits and its time has come. */
async function lockDue(trx: Trx, { vaultId, id, now }: Omit<Due, 'probed'>): Promise<LockedChangeSet | null> {
  const set = await lockChangeSet(trx, vaultId, id)
  return set?.status === 'scheduled' && set.apply_at !== null && set.apply_at <= now ? set : null
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

async function fail(
  trx: Trx,
  set: LockedChangeSet,
  { reason, message }: AppError,
  due: Omit<Due, 'probed'>,
): Promise<void> {
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
