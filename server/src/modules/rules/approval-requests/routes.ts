import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { mutate, ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import type { Executors } from '../votes/executor.ts'
import { VoteBody } from '../votes/schema.ts'
import { voteOn } from '../votes/vote.ts'
import { prefetching } from './apply.ts'
import { gateSteps, readRequest } from './gate.ts'
import { toApprovalRequest } from './present.ts'
import { listRequests } from './queries.ts'
import { AppliedChain, ApprovalRequest, CompositeBody, RequestQuery, WaitingAction } from './schema.ts'
import { cancelRequest, votableRequests } from './vote.ts'

const ofVault = { access: 'member', params: VaultParams } as const
const ofRequest = { access: 'member', params: VaultAndIdParams } as const

/** `executors` are those of every action there is: a vote may be the last one of any request. */
export function approvalRequestRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Approval requests')

  api.list(
    '/vaults/:code/approval-requests',
    {
      operationId: 'listApprovalRequests',
      summary: 'Approval requests, newest first',
      description: 'A member reads those they asked for or were asked to vote on, an administrator all of the vault.',
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
      summary: 'One approval request with its votes',
      description: 'For its initiator, its approvers and administrators.',
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
      summary: 'Do a chain of counterparty actions as one',
      description:
        'Every step is decided by its own policies. All allowed: done at once, all or nothing. Any blocked or denied: 403 and nothing happens. Otherwise the chain waits for the votes of all its steps.',
      ...ofVault,
      body: CompositeBody,
      answers: { 200: AppliedChain, 202: WaitingAction },
      errors: [409],
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
      summary: 'Vote for a request',
      description:
        'The last vote needed does what was asked for. When that cannot be done any more the answer is 409, the vote stays, and the request is `failed` or `stale`.',
      ...ofRequest,
      body: VoteBody,
      answers: { 200: ApprovalRequest },
      errors: [409, 502],
    },
    ({ member, params: { id }, body, now }, { request, reply }) =>
      prefetching((fetched) =>
        mutate(deps, request, reply, async (trx) => {
          const ballot = { member, id, comment: body?.comment ?? null, now }
          const refused = await voteOn(trx, votableRequests(deps.log, { executors, fetched }), 'approve', ballot)
          return refused ?? ok(await readRequest(trx, member, id, now))
        }),
      ),
  )

  api.post(
    '/vaults/:code/approval-requests/:id/reject',
    {
      operationId: 'rejectApprovalRequest',
      summary: 'Veto a request, all its steps',
      ...ofRequest,
      body: VoteBody,
      answers: { 200: ApprovalRequest },
      errors: [409],
    },
    async (trx, { member, params: { id }, body, now }) => {
      const ballot = { member, id, comment: body?.comment ?? null, now }
      const refused = await voteOn(trx, votableRequests(deps.log, { executors, fetched: null }), 'reject', ballot)
      return refused ?? ok(await readRequest(trx, member, id, now))
    },
  )

  api.post(
    '/vaults/:code/approval-requests/:id/cancel',
    {
      operationId: 'cancelApprovalRequest',
      summary: 'Take a request back',
      description: 'By its initiator or an administrator, while it waits.',
      ...ofRequest,
      answers: { 200: ApprovalRequest },
      errors: [409],
    },
    async (trx, { params: { id }, ...by }) => {
      await cancelRequest(trx, id, by)
      return ok(await readRequest(trx, by.member, id, by.now))
    },
  )
}
