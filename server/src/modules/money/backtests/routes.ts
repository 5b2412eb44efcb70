import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, mutate } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { backtestDecisionsMax, backtestInlineMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { parseBounds } from '../../../lib/period.ts'
import { oneOfDrafts, readDrafts } from '../../rules/policies/draft-policies.ts'
import { orderBacktest, policiesUnder, prepareBacktest, rulesOfChangeSet } from './actions.ts'
import { createDecideAgain, type Rules } from './decide-again.ts'
import { toBacktest, toBacktestChange } from './present.ts'
import { type BacktestRow, type ChangeRow, findBacktest, listChanges, listGroupIds } from './queries.ts'
import { Backtest, BacktestChange, BacktestChangeQuery, BacktestOrder } from './schema.ts'
import { listStoredDecisions, type StoredDecision, subjectTypes } from './stored-decisions.ts'

export function backtestRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Policies')

  api.send(
    'post',
    '/vaults/:code/policies/backtest',
    {
      operationId: 'backtestPolicies',
      summary: 'Backtest policies',
      description:
        'Decides again what was decided in an interval, by policies that are not saved or by the rules that a change set would ' +
        'publish, and from the facts of its day alone. For administrators and auditors. Up to ' +
        `${backtestInlineMax} decisions are \`done\` in the answer, up to ${backtestDecisionsMax} in the background. 429 while ` +
        'the vault has one in the background.',
      access: 'auditor',
      errors: [404],
      params: VaultParams,
      body: BacktestOrder,
      answers: { 202: Backtest },
    },
    async ({ member, body, now }, { request, reply }) => {
      const { from, to } = parseBounds(body)
      if (from === null) throw badRequest('from', 'is required')
      const rules = await rulesToTry(deps.db, member.vault.id, body, now)
      const prepared = await deps.slowReads.inTurn(member.userId, (db) =>
        prepareBacktest(db, { member }, rules, { from, to: to ?? now }),
      )
      return mutate(deps, request, reply, async (trx) =>
        accepted(toBacktest(await orderBacktest(trx, { ...prepared, changeSetId: body.changeSetId }, { member, now }))),
      )
    },
  )

  api.get(
    '/vaults/:code/policies/backtests/:id',
    {
      operationId: 'getBacktest',
      summary: 'Get a backtest',
      description: 'For administrators and auditors, whoever asked for it. Kept for 30 days.',
      access: 'auditor',
      params: VaultAndIdParams,
      answers: { 200: Backtest },
    },
    async (db, { member, params }) => toBacktest(await findVisible(db, member, params.id)),
  )

  api.list(
    '/vaults/:code/policies/backtests/:id/changes',
    {
      operationId: 'listBacktestChanges',
      summary: 'List what a backtest would change',
      description:
        'For administrators and auditors: the decisions that would be stricter or looser, and those that cannot be decided ' +
        'again, the newest first, each with its trace as it was and as it would be. 409 until the backtest is done.',
      access: 'auditor',
      errors: ['wrong_state'],
      params: VaultAndIdParams,
      querystring: BacktestChangeQuery,
      item: BacktestChange,
    },
    async (db, { member, params, query }, page) => {
      const backtest = await findVisible(db, member, params.id)
      if (backtest.state !== 'done') throw conflict('wrong_state', `The backtest is ${backtest.state}, not done`)
      const rows = await listChanges(db, member.vault.id, backtest.id, query.change, page)
      return decideRowsAgain(db, member, backtest, rows)
    },
    ({ present }) => present(),
    ({ row }) => ({ createdAt: row.created_at, id: row.subject_id }),
  )
}

/** @throws 400, 404 for a change set that the vault does not have */
async function rulesToTry(db: Db, vaultId: string, body: BacktestOrder, now: Date): Promise<Rules> {
  const { changeSetId, ...given } = body
  if (changeSetId !== undefined) {
    if (given.policies !== undefined || given.draft !== undefined)
      throw badRequest('changeSetId', 'cannot stand beside policies or draft')
    return rulesOfChangeSet(db, vaultId, changeSetId)
  }
  const { draft, path } = oneOfDrafts(given)
  const drafts = await readDrafts(db, vaultId, draft, { now, path })
  return { vaultId, ...(await policiesUnder(db, vaultId, drafts)) }
}

async function findVisible(db: Db, member: Member, id: string): Promise<BacktestRow> {
  return orNotFound(await findBacktest(db, member.vault.id, id), 'Backtest')
}

/** Makes the decisions of a page again, which is less to keep than both traces of all of them. */
async function decideRowsAgain(db: Db, member: Member, backtest: BacktestRow, rows: ChangeRow[]) {
  const vaultId = member.vault.id
  const scope = visibleScopeOf(member)
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
    for (const one of await listStoredDecisions(db, type, { vaultId, scope, ids, limit: ids.length }))
      stored.set(`${type} ${one.id}`, one)
  }
  const found: { row: ChangeRow; present: () => BacktestChange }[] = []
  for (const row of rows) {
    const decision = stored.get(`${row.subject_type} ${row.subject_id}`)
    if (decision === undefined) continue
    const again = await decideAgain(decision)
    found.push({ row, present: () => toBacktestChange(row, decision, again) })
  }
  return found
}
