import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { toAdjustment } from '../ledger/present.ts'
import { listAdjustments } from '../ledger/queries.ts'
import { Adjustment, AdjustmentBody, AdjustmentQuery } from '../ledger/schema.ts'
import { adjustOrRequest, requestAgreement } from './adjust-together.ts'

export function adjustmentRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Ledger', { access: 'administrator', scopes: { reads: 'read', writes: 'operate' } })
  const { approvalTtlHours } = deps.config

  api.post('createAdjustment', '/vaults/:code/adjustments', {
    summary: 'Create an adjustment',
    description:
      'For administrators of the vault. Posts an amount to an address against the adjustment account of the vault; a ' +
      'negative amount reduces the available balance, down to zero at most. For opening balances and corrections that ' +
      'no event explains. In a vault with governance or protection, and where it would cover an exposure or an event is ' +
      'quarantined, it waits for a second administrator: 202 with the approval request; services may not request it.',
    errors: ['balance_overflow', 'held', 'insufficient_funds', 'person_required', 'quorum_unreachable'],
    body: AdjustmentBody,
    confirmed: 'where protected',
    answers: { 201: Adjustment, 202: WaitingAction },
    handler: (trx, { body, ...by }) => adjustOrRequest(trx, body, { ...by, approvalTtlHours }),
  })

  api.list('listAdjustments', '/vaults/:code/adjustments', {
    summary: 'List adjustments',
    description:
      'For administrators and auditors of the vault, newest first. `isAgreed` is true for an adjustment that two people agreed ' +
      'on. In a vault with governance or protection, policies count only such adjustments.',
    access: 'auditor',
    querystring: AdjustmentQuery,
    item: Adjustment,
    load: (db, { member, query }, page) => listAdjustments(db, member.vault.id, query, page),
    present: toAdjustment,
  })

  api.post('agreeToAdjustment', '/vaults/:code/adjustments/:id/agree', {
    summary: 'Request agreement on an adjustment',
    description:
      'For administrators of the vault. Asks a second administrator to agree on an adjustment that one person made, for ' +
      'example before the vault had governance. Policies count it from the approval on. Services may not request it.',
    errors: ['person_required', 'quorum_unreachable', 'wrong_state'],
    confirmed: 'where protected',
    answers: { 202: WaitingAction },
    handler: (trx, { params, ...by }) => requestAgreement(trx, params.id, { ...by, approvalTtlHours }),
  })
}
