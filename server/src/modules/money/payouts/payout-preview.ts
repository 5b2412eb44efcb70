import type { Static } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { faultsListedMax } from '../../../lib/limits.ts'
import type { Reason } from '../../../lib/reasons.ts'
import { listCandidates } from '../../rules/decisions/candidates.ts'
import { decideBatch } from '../../rules/decisions/decide-batch.ts'
import { toPolicySimulation } from '../../rules/decisions/present.ts'
import { newestNumber } from '../../rules/rules-versions/versions.ts'
import { findElectorates, findShortages, nobody } from '../../rules/votes/open.ts'
import type { FeeEstimates } from '../orders/ask-services.ts'
import type { SourceRow } from '../orders/gather.ts'
import { withVoters } from '../orders/order-preview.ts'
import { planSigned } from '../orders/sign-order.ts'
import { findReplaced, leaveOut } from './leave-out.ts'
import { factsOfRows, objectionsToPayout } from './payout-objections.ts'
import { loadRows, planOf, questionOf, sumsOf } from './payout-rows.ts'
import { findLackingOfRows, scoreRows } from './payout-services.ts'
import { listHoldsOnRows, listUsedIds } from './queries.ts'
import type { PayoutBody, PayoutPreview } from './schema.ts'

/** Returns the outcome that a payout would have now; changes nothing and locks nothing. @throws as `loadRows` */
export async function previewPayout(
  deps: Deps,
  body: PayoutBody,
  { member, now, estimates }: ByMember & { estimates: FeeEstimates },
): Promise<Static<typeof PayoutPreview>> {
  const scope = visibleScopeOf(member)
  const { vaultId } = scope
  const { db } = deps
  const replaced = body.replaces === undefined ? null : await findReplaced(db, body.replaces, { member, now })
  const riskScores = await scoreRows(deps, body, { member, now })
  const rows = await loadRows(db, body, { scope, now, riskScores })
  const leaving = replaced === null ? null : leaveOut(replaced, rows)
  const used = new Set((await listUsedIds(db, member, rows, leaving)).map((row) => row.external_id))
  const candidates = await listCandidates(db, vaultId, 'transfer', member.groupIds)
  const availableOf = (source: SourceRow & { token_id: string }) =>
    BigInt(source.available ?? '0') + (leaving?.releasedOf(source) ?? 0n)
  const question = { ...questionOf(rows, vaultId, member, now, availableOf), withoutPayout: leaving?.payoutId ?? null }
  const decided = await decideBatch(db, candidates, question, { areStored: false })
  const { requirements, decisive } = decided
  const electorates = await findElectorates(db, { vaultId, initiatorId: member.userId, requirements })
  const { trace, policies, facts } = decisive.decision
  const reader = { readsAll: member.readsAll, isInitiator: true }
  const shown = toPolicySimulation({ ...decided, trace, policies, facts }, reader)

  const problems: Static<typeof PayoutPreview>['problems'] = []
  const name = (code: Reason, row: number | null, message: string) => problems.push({ code, row, message })
  for (const [i, { body: ordered }] of rows.entries())
    if (used.has(ordered.externalId))
      name('already_exists', i + 1, `The external id ${ordered.externalId} was used before`)
  const holds = await listHoldsOnRows(db, { vaultId, initiatorId: member.userId }, rows)
  const lacking = deps.config.checksGas
    ? await findLackingOfRows(deps, estimates, rows, { vaultId, now, releasedOf: leaving?.releasedOf })
    : []
  const shortages = findShortages(requirements, ({ policyId }) => electorates.get(policyId) ?? nobody)
  const gathered = { initiatorId: member.userId, holds, availableOf, decision: decided, lacking, shortages }
  const known = factsOfRows(rows, gathered).map((ofRow) => ({ ...ofRow, noun: 'this row' }))
  for (const raised of objectionsToPayout(rows, known, 'preview'))
    for (const problem of raised.problems) name(raised.objection.reason, problem.row, problem.message)
  const row = decisive.order + 1
  const rulesVersion = member.vault.protection === 'off' ? 0 : await newestNumber(db, vaultId)
  const toSign = await planSigned(deps, { kind: 'payout', member, now, rulesVersion, plan: planOf(member, rows) })
  return {
    ...(toSign === null ? {} : { toSign: { payoutId: toSign.payoutId, orders: toSign.payloads, vote: toSign.vote } }),
    decision: {
      effect: shown.effect,
      blockReason: shown.blockReason,
      decisionPolicy: shown.decisionPolicy,
      requirements: withVoters(shown.requirements, electorates),
    },
    view: decisive.view,
    row,
    trace: shown.trace,
    rowsCount: rows.length,
    sums: sumsOf(rows),
    problems: problems.slice(0, faultsListedMax),
  }
}
