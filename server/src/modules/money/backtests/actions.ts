import type { Viewer } from '../../../access/address-scope.ts'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, tooManyRequests } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { backtestDaysOfVoters, backtestDecisionsMax, backtestInlineMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { Bounds } from '../../../lib/period.ts'
import { audit } from '../../record/audit/record.ts'
import { findChangeSet } from '../../rules/change-sets/queries.ts'
import { listAllCandidates } from '../../rules/decisions/candidates.ts'
import type { Drafts } from '../../rules/decisions/decide.ts'
import { movesBetween, policiesOf } from '../../rules/rules-versions/under-document.ts'
import type { Rules, TriedPolicy } from './decide-again.ts'
import { type BacktestResult, backtest, type ChangedDecision } from './evaluate.ts'
import { type BacktestRow, insertBacktest, insertChanges, listGroupIds } from './queries.ts'
import { countStoredDecisions, type Interval } from './stored-decisions.ts'

/** A backtest before it is stored. `found` is the result of a short backtest, and null for a long one. */
type PreparedBacktest = {
  rules: Rules
  /** The change set of the rules; undefined for policies that are tried alone. */
  changeSetId?: string | undefined
  /** The request for votes on the change, when one of its voters runs the backtest. */
  requestId?: string | undefined
  interval: Interval
  decisionsCount: number
  found: { result: BacktestResult; changed: ChangedDecision[] } | null
}

/**
 * Returns every policy that decides when the drafts are in force. The policies are copied, so that the result does not depend
 * on the duration of the backtest or on the time when it is read.
 */
export async function policiesUnder(
  db: Db,
  vaultId: string,
  { mode, policies: drafts }: Drafts,
): Promise<{ policies: TriedPolicy[]; administratorsId: string }> {
  const { all, administratorsId } = await listGroupIds(db, vaultId)
  const replaced = new Set(drafts.map(({ code }) => code))
  const saved = mode === 'replace' ? [] : await listAllCandidates(db, vaultId, all)
  const kept = saved.filter(({ code }) => !replaced.has(code)).map((policy) => ({ ...policy, enabled: true }))
  return { policies: [...kept, ...drafts], administratorsId }
}

/**
 * Returns the rules that a change set would publish: its policies, and the members that join and leave groups. Other groups
 * stay those of the day of each decision.
 * @throws 404
 */
export async function rulesOfChangeSet(db: Db, vaultId: string, id: string): Promise<Rules> {
  const { before, after } = orNotFound(await findChangeSet(db, vaultId, id), 'Change set')
  const { administratorsId } = await listGroupIds(db, vaultId)
  return { vaultId, policies: policiesOf(after), moves: movesBetween(before, after), administratorsId }
}

/**
 * Decides a short interval again at once; a long interval waits for the background. A caller who may not read the whole vault
 * learns the number of decisions, and details only of decisions that they may see.
 *
 * @throws 400 for an interval with more decisions than a backtest takes
 */
export async function prepareBacktest(
  db: Db,
  viewer: Viewer,
  rules: Rules,
  interval: Interval,
): Promise<PreparedBacktest> {
  const decisionsCount = await countStoredDecisions(db, viewer, interval, backtestDecisionsMax + 1)
  if (decisionsCount > backtestDecisionsMax) {
    throw badRequest('from', `the interval has more than ${backtestDecisionsMax} decisions; choose a shorter one`)
  }
  if (decisionsCount > backtestInlineMax) return { rules, interval, decisionsCount, found: null }
  const changed: ChangedDecision[] = []
  const result = await backtest(db, viewer, rules, interval, async (_evaluated, page) => {
    changed.push(...page)
    return true
  })
  return { rules, interval, decisionsCount, found: { result: result!, changed } }
}

/** @throws 429 while another backtest of the vault waits or runs */
export async function orderBacktest(
  trx: Trx,
  { rules: { policies, moves = {} }, changeSetId, requestId, interval, decisionsCount, found }: PreparedBacktest,
  by: ByMember,
): Promise<BacktestRow> {
  const { member, now } = by
  const doneAt = found === null ? null : now
  const row = await insertBacktest(trx, {
    vault_id: member.vault.id,
    id: newId(now),
    requester_id: member.userId,
    request_id: requestId ?? null,
    state: found === null ? 'queued' : 'done',
    policies: JSON.stringify(policies),
    moves: JSON.stringify(moves),
    from_at: interval.from,
    to_at: interval.to,
    decisions_count: decisionsCount,
    evaluated_count: found?.result.evaluated ?? 0,
    result: found === null ? null : JSON.stringify(found.result),
    created_at: now,
    started_at: doneAt,
    finished_at: doneAt,
  })
  if (row === null)
    throw tooManyRequests('too_many_at_once', 'The vault has a backtest that is not finished; wait for its end', 10)
  await insertChanges(trx, row, found?.changed ?? [])
  const details = {
    from: interval.from.toISOString(),
    to: interval.to.toISOString(),
    ...(changeSetId === undefined ? { policies: policies.map(({ code }) => code) } : { changeSetId }),
  }
  await audit(trx, byMember(by), 'policies.backtested', { type: 'backtest', id: row.id }, details)
  return row
}

const dayMilliseconds = 86_400_000

/**
 * Returns the interval of a backtest by a voter: the shortest permitted interval that contains the requested one; pure. It ends
 * when the votes were requested. With freely chosen intervals a voter could compare the numbers of two intervals that differ by
 * a minute, and learn what happened in that minute (decision 0054).
 * @throws 400
 */
export function intervalOfVoter({ from, to }: { from: Date; to: Bounds['to'] }, askedAt: Date): Interval {
  if (to !== null) throw badRequest('to', 'must be left out: the interval ends when the votes were asked for')
  const beginnings = backtestDaysOfVoters.map((days) => new Date(askedAt.getTime() - days * dayMilliseconds))
  const beginning = beginnings.find((instant) => instant <= from)
  if (beginning === undefined) {
    throw badRequest('from', `must be at most ${backtestDaysOfVoters.at(-1)} days before the votes were asked for`)
  }
  return { from: beginning, to: askedAt }
}
