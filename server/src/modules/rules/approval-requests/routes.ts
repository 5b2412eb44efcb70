import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { mutate, ok } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import type { Executors } from '../votes/executor.ts'
import { VoteBody } from '../votes/schema.ts'
import { toBallot, voteOn } from '../votes/vote.ts'
import { gateSteps, readRequest } from './gate.ts'
import { toApprovalRequest } from './present.ts'
import { listRequests } from './queries.ts'
import { AppliedChain, ApprovalRequest, CompositeBody, RequestQuery, WaitingAction } from './schema.ts'
import { prefetching } from './steps.ts'
import { cancelRequest, votableRequests } from './vote.ts'

const ofVault = { access: 'member', params: VaultParams } as const
const ofRequest = { access: 'member', params: VaultAndIdParams } as const

/** `executors` must cover every action, because a vote may complete a request of any of them. */
export function approvalRequestRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Approval requests')

  api.list(
    '/vaults/:code/approval-requests',
    {
      operationId: 'listApprovalRequests',
      summary: 'List approval requests',
      description:
        'Newest first. A member reads those that they initiated and those on which they may vote, an administrator all of the vault.',
      ...ofVault,
      querystring: RequestQuery,
      item: ApprovalRequest,
    },
    (db, { member, query, now }, page) => listRequests(db, member, query, { ...page, now }),
    (row, { now }) => toApprovalRequest(row, now),
  )

  api.get(
    '/vaults/:code/approval-requests/:id',
    {
      operationId: 'getApprovalRequest',
      summary: 'Get an approval request',
      description: 'With its votes. For its initiator, its approvers and administrators; 404 for everybody else.',
      ...ofRequest,
      answers: { 200: ApprovalRequest },
    },
    (db, { member, params, now }) => readRequest(db, member, params.id, now),
  )

  api.send(
    'post',
    '/vaults/:code/approval-requests/composite',
    {
      operationId: 'createCompositeApprovalRequest',
      summary: 'Create a composite approval request',
      description:
        'A chain of counterparty actions that is carried out as one. Every step is decided by its own policies. When ' +
        'all are allowed, the chain is applied at once, all or nothing (200). When any is blocked or denied, the answer ' +
        'is 403 and nothing is applied. Otherwise the chain waits for the votes of all its steps (202).',
      ...ofVault,
      errors: [
        'blocked_by_policy',
        'no_policy_allows',
        'already_exists',
        'archived',
        'changed_concurrently',
        'quorum_unreachable',
      ],
      body: CompositeBody,
      answers: { 200: AppliedChain, 202: WaitingAction },
    },
    ({ body }, http) =>
      gateSteps(deps, http, {
        action: 'composite',
        steps: body.steps,
        executors,
        applied: async (_trx, results) => ok({ applied: true as const, results }),
      }),
  )

  api.send(
    'post',
    '/vaults/:code/approval-requests/:id/approve',
    {
      operationId: 'approveApprovalRequest',
      summary: 'Approve an approval request',
      description:
        'Casts the vote of the caller for the steps on which the caller may vote. The last vote that is needed applies ' +
        'the request. When the request can no longer be applied, the answer is 409, the vote stays, and the request ' +
        'becomes `failed` or `stale`.',
      ...ofRequest,
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
        'wrong_state',
        'wallet_service_failed',
      ],
    },
    ({ member, params: { id }, body, now }, { request, reply }) =>
      prefetching((fetched) =>
        mutate(deps, request, reply, async (trx) => {
          const ballot = toBallot(body, deps, { member, id, now })
          const refused = await voteOn(trx, votableRequests(deps.log, { executors, fetched }), 'approve', ballot)
          return refused ?? ok(await readRequest(trx, member, id, now))
        }),
      ),
  )

  api.post(
    '/vaults/:code/approval-requests/:id/reject',
    {
      operationId: 'rejectApprovalRequest',
      summary: 'Reject an approval request',
      description:
        'A veto by one of its approvers: the whole request becomes `rejected`, all its steps included. 409 when it is no longer pending.',
      ...ofRequest,
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
    },
    async (trx, { member, params: { id }, body, now }) => {
      const ballot = toBallot(body, deps, { member, id, now })
      const refused = await voteOn(trx, votableRequests(deps.log, { executors, fetched: null }), 'reject', ballot)
      return refused ?? ok(await readRequest(trx, member, id, now))
    },
  )

  api.post(
    '/vaults/:code/approval-requests/:id/cancel',
    {
      operationId: 'cancelApprovalRequest',
      summary: 'Cancel an approval request',
      description: 'By its initiator or an administrator, while it is pending.',
      ...ofRequest,
      errors: ['not_permitted', 'wrong_state'],
      answers: { 200: ApprovalRequest },
    },
    async (trx, { params: { id }, ...by }) => {
      await cancelRequest(trx, id, by)
      return ok(await readRequest(trx, by.member, id, by.now))
    },
  )
}
