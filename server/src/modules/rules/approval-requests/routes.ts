import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { toBallot, voteOn } from '../votes/ballot.ts'
import type { Executors } from '../votes/executor.ts'
import { VoteBody } from '../votes/schema.ts'
import { gateErrors, gateSteps, readRequest } from './gate.ts'
import { toApprovalRequest } from './present.ts'
import { listRequests } from './queries.ts'
import { AppliedChain, ApprovalRequest, CompositeBody, RequestQuery, WaitingAction } from './schema.ts'
import { prefetching } from './steps.ts'
import { cancelRequest, votableRequests } from './vote-on-request.ts'

/** `executors` must cover every action, because a vote may complete a request of any of them. */
export function approvalRequestRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Approval requests', { access: 'member', scopes: { reads: 'read', writes: 'vote' } })

  api.list('listApprovalRequests', '/vaults/:code/approval-requests', {
    summary: 'List approval requests',
    description:
      'Newest first. Members see the requests that they initiated or on which they may vote; administrators and ' +
      'auditors see all requests of the vault.',
    querystring: RequestQuery,
    item: ApprovalRequest,
    load: (db, { member, query, now }, page) => listRequests(db, member, query, { ...page, now }),
    present: (row, { now }) => toApprovalRequest(row, now),
  })

  api.get('getApprovalRequest', '/vaults/:code/approval-requests/:id', {
    summary: 'Get an approval request',
    description:
      'The request with its votes, for its initiator, its approvers, administrators and auditors; 404 for everybody else.',
    answers: { 200: ApprovalRequest },
    handler: (db, { member, params, now }) => readRequest(db, member, params.id, now),
  })

  api.send.post('createCompositeApprovalRequest', '/vaults/:code/approval-requests/composite', {
    summary: 'Create a composite approval request',
    description:
      'Carries out several counterparty actions, the steps, as one. The policies of its action decide on every step. ' +
      'When all steps are allowed, they are applied at once, all or nothing (200). When any step is blocked or denied, ' +
      'the answer is 403 and nothing is applied. Otherwise the request waits for the votes of all its steps (202).',
    scope: 'write',
    errors: gateErrors('already_exists', 'archived', 'changed_concurrently'),
    body: CompositeBody,
    answers: { 200: AppliedChain, 202: WaitingAction },
    handler: ({ body }, http) =>
      gateSteps(deps, http, {
        action: 'composite',
        steps: body.steps,
        executors,
        applied: async (_trx, results) => ({ applied: true as const, results }),
      }),
  })

  api.send.post('approveApprovalRequest', '/vaults/:code/approval-requests/:id/approve', {
    summary: 'Approve an approval request',
    description:
      'Casts the vote of the caller for the steps on which the caller may vote. The last vote that is needed applies ' +
      'the request. When the request can no longer be applied, the answer is 409, the vote stays, and the request ' +
      'becomes `failed` or `stale`.',
    body: VoteBody,
    answers: { 200: ApprovalRequest },
    errors: [
      'not_an_approver',
      'already_voted',
      'approval_expired',
      'archived',
      'blocked_by_policy_now',
      'differs_from_record',
      'disabled',
      'held',
      'initiator_lost_permission',
      'not_applied',
      'payload_changed',
      'signature_required',
      'vault_halted',
      'wrong_state',
      'wallet_service_failed',
    ],
    handler: ({ member, params: { id }, body, now }, { write }) =>
      prefetching((fetched) =>
        write(async (trx) => {
          const ballot = toBallot(body, deps, { member, id, now })
          const voted = await voteOn(trx, votableRequests(deps.log, { executors, fetched }), 'approve', ballot)
          return 'refusal' in voted ? voted : readRequest(trx, member, id, now)
        }),
      ),
  })

  api.post('rejectApprovalRequest', '/vaults/:code/approval-requests/:id/reject', {
    summary: 'Reject an approval request',
    description:
      'Casts a veto of one of its approvers: the request becomes `rejected` with all its steps. 409 when it is not pending.',
    errors: [
      'not_an_approver',
      'already_voted',
      'approval_expired',
      'held',
      'payload_changed',
      'signature_required',
      'wrong_state',
    ],
    body: VoteBody,
    answers: { 200: ApprovalRequest },
    handler: async (trx, { member, params: { id }, body, now }) => {
      const ballot = toBallot(body, deps, { member, id, now })
      const voted = await voteOn(trx, votableRequests(deps.log, { executors, fetched: null }), 'reject', ballot)
      return 'refusal' in voted ? voted : readRequest(trx, member, id, now)
    },
  })

  api.post('cancelApprovalRequest', '/vaults/:code/approval-requests/:id/cancel', {
    summary: 'Cancel an approval request',
    description: 'Its initiator or an administrator may cancel it while it is pending.',
    scope: 'operate',
    errors: ['not_permitted', 'wrong_state'],
    answers: { 200: ApprovalRequest },
    handler: async (trx, { params: { id }, ...by }) => {
      await cancelRequest(trx, id, by)
      return readRequest(trx, by.member, id, by.now)
    },
  })
}
