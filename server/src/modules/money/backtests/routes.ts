import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { notOfLevel } from '../../../http/guard.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { backtestDecisionsMax, backtestInlineMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { parseBounds } from '../../../lib/period.ts'
import { findOpenVote, votesOnRules } from '../../rules/governance/voters.ts'
import { oneOfDrafts, readDrafts } from '../../rules/policies/draft-policies.ts'
import { intervalOfVoter, orderBacktest, policiesUnder, prepareBacktest, rulesOfChangeSet } from './actions.ts'
import { createDecideAgain, type Rules } from './decide-again.ts'
import { toBacktest, toBacktestChange } from './present.ts'
import {
  type BacktestRow,
  type ChangeRow,
  findBacktest,
  findBacktestOfVoter,
  listChanges,
  listGroupIds,
} from './queries.ts'
import { Backtest, BacktestChange, BacktestChangeQuery, BacktestOrder } from './schema.ts'
import { listStoredDecisions, type StoredDecision, subjectTypes } from './stored-decisions.ts'

/** A voter on a change of the rules may try that change, too. The handlers check which change it is. */
const ofVoters = { alsoFor: votesOnRules } as const

export function backtestRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Policies', { access: 'auditor', scopes: { reads: 'read', writes: 'read' } })

  api.send.post('backtestPolicies', '/vaults/:code/policies/backtest', {
    summary: 'Backtest policies',
    description:
      'Makes the decisions of an interval again, by policies that are not saved or by the rules that a change set would ' +
      'publish, and only from the facts of their day. For administrators and auditors; a change set that waits for votes ' +
      'also for its voters, over a period before the votes were requested (`from`): all decisions are counted, and those ' +
      'that a voter may not see are neither in the sums nor in the list (`hiddenCount`). A repeated request returns the ' +
      'same backtest. Up to ' +
      `${backtestInlineMax} decisions are \`done\` in the answer, up to ${backtestDecisionsMax} in the background. 429 while ` +
      'the vault has a backtest in the background.',
    ...ofVoters,
    errors: [404],
    body: BacktestOrder,
    answers: { 202: Backtest },
    handler: async ({ member, body, now }, { write }) => {
      const openVote = await openVoteOf(deps.db, member, body, now)
      const { from, to } = parseBounds(body)
      if (from === null) throw badRequest('from', 'is required')
      const interval = openVote === null ? { from, to: to ?? now } : intervalOfVoter({ from, to }, openVote.askedAt)
      if (openVote !== null) {
        const voter = { vaultId: member.vault.id, requesterId: member.userId, requestId: openVote.requestId }
        const earlier = await findBacktestOfVoter(deps.db, voter, interval)
        if (earlier !== null) return write(async () => toBacktest(earlier))
      }
      const rules = await rulesToTry(deps.db, member.vault.id, body, now)
      const prepared = await deps.slowReads.inTurn(member.userId, (db) => prepareBacktest(db, member, rules, interval))
      const { changeSetId } = body
      return write(async (trx) => {
        const order = { ...prepared, changeSetId, requestId: openVote?.requestId }
        return toBacktest(await orderBacktest(trx, order, { member, now }))
      })
    },
  })

  api.get('getBacktest', '/vaults/:code/policies/backtests/:id', {
    summary: 'Get a backtest',
    description:
      'For administrators and auditors, whoever requested it; for a voter only their own backtest, until the votes are ' +
      'decided. Kept for 30 days.',
    ...ofVoters,
    answers: { 200: Backtest },
    handler: async (db, { member, params, now }) => toBacktest(await findVisible(db, member, params.id, now)),
  })

  api.list('listBacktestChanges', '/vaults/:code/policies/backtests/:id/changes', {
    summary: 'List what a backtest would change',
    description:
      'The decisions that would be stricter or looser, and those that cannot be decided again, the newest first, each with its ' +
      'trace as it was and as it would be. For the readers of the backtest; a voter reads the decisions that they may ' +
      'see. 409 until it is done.',
    ...ofVoters,
    errors: ['wrong_state'],
    querystring: BacktestChangeQuery,
    item: BacktestChange,
    load: async (db, { member, params, query, now }, page) => {
      const backtest = await findVisible(db, member, params.id, now)
      if (backtest.state !== 'done') throw conflict('wrong_state', `The backtest is ${backtest.state}, not done`)
      const rows = await listChanges(db, member, backtest.id, query.change, page)
      return decideRowsAgain(db, member, backtest, rows)
    },
    present: ({ present }) => present(),
    position: ({ row }) => ({ createdAt: row.created_at, id: row.subject_id }),
  })
}

/** Returns the rules to try. @throws 400, 404 for a change set that the vault does not have */
async function rulesToTry(db: Db, vaultId: string, body: BacktestOrder, now: Date): Promise<Rules> {
  const { changeSetId, ...order } = body
  if (changeSetId !== undefined) {
    if (order.policies !== undefined || order.draft !== undefined)
      throw badRequest('changeSetId', 'cannot stand beside policies or draft')
    return rulesOfChangeSet(db, vaultId, changeSetId)
  }
  const { draft, path } = oneOfDrafts(order)
  const drafts = await readDrafts(db, vaultId, draft, { now, path })
  return { vaultId, ...(await policiesUnder(db, vaultId, drafts)) }
}

/**
 * Returns the open vote of a caller who does not read the whole vault; null for a caller who does.
 * @throws 403 for every other caller, whether or not the change exists
 */
async function openVoteOf(db: Db, member: Member, { changeSetId, policies, draft }: BacktestOrder, now: Date) {
  if (member.readsAll) return null
  const isOfChangeSet = changeSetId !== undefined && policies === undefined && draft === undefined
  const voter = { vaultId: member.vault.id, userId: member.userId }
  const openVote = isOfChangeSet ? await findOpenVote(db, voter, { changeSetId }, now) : null
  if (openVote === null) throw notOfLevel('auditor')
  return openVote
}

/** @throws 403 for a caller who neither reads the whole vault nor ran this backtest as a voter, 404 */
async function findVisible(db: Db, member: Member, id: string, now: Date): Promise<BacktestRow> {
  const { vault, userId, readsAll } = member
  const found = await findBacktest(db, vault.id, id)
  if (readsAll) return orNotFound(found, 'Backtest')
  const requestId = found?.requester_id === userId ? found.request_id : null
  const openVote = requestId == null ? null : await findOpenVote(db, { vaultId: vault.id, userId }, { requestId }, now)
  if (found === null || openVote === null) throw notOfLevel('auditor')
  return found
}

/** Decides the decisions of a page again, because both traces of all decisions would be too much to store. */
async function decideRowsAgain(db: Db, member: Member, backtest: BacktestRow, rows: ChangeRow[]) {
  const vaultId = member.vault.id
  const { administratorsId } = await listGroupIds(db, vaultId)
  const decideAgain = createDecideAgain({
    vaultId,
    policies: backtest.policies,
    moves: backtest.moves,
    administratorsId,
  })
  const stored = new Map<string, StoredDecision>()
  for (const type of subjectTypes) {
    const ids = rows.filter(({ subject_type }) => subject_type === type).map(({ subject_id }) => subject_id)
    if (ids.length === 0) continue
    for (const decision of await listStoredDecisions(db, type, { viewer: member, ids, limit: ids.length }))
      stored.set(`${type} ${decision.id}`, decision)
  }
  const found: { row: ChangeRow; present: () => BacktestChange }[] = []
  for (const row of rows) {
    const decision = stored.get(`${row.subject_type} ${row.subject_id}`)
    if (decision === undefined) continue
    const again = await decideAgain(decision)
    found.push({ row, present: () => toBacktestChange(row, decision, again, member) })
  }
  return found
}
