import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import type { Appliers } from '../votes/applier.ts'
import { VoteBody } from '../votes/schema.ts'
import { approveRequest, cancelRequest, rejectRequest } from './actions.ts'
import { prefetching } from './apply.ts'
import { gateSteps, readRequest } from './gate.ts'
import { toApprovalRequest } from './present.ts'
import { listRequests } from './queries.ts'
import { AppliedChain, ApprovalRequest, CompositeBody, RequestQuery, WaitingAction } from './schema.ts'

const tag = 'Approval requests'

/** `appliers` are those of every action there is: a vote may be the last one of any request. */
export function approvalRequestRoutes(app: App, deps: Deps, appliers: Appliers): void {
  app.get(
    '/vaults/:code/approval-requests',
    route({
      operationId: 'listApprovalRequests',
      summary: 'Approval requests, newest first',
      description: 'A member reads those they asked for or were asked to vote on, an administrator all of the vault.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: RequestQuery,
      answers: { 200: PageOf(Ref(ApprovalRequest)) },
    }),
    async (request) => {
      const { limit: _limit, cursor: _cursor, ...filter } = request.query
      const { after, limit } = pageOf(request.query)
      const now = deps.clock()
      const rows = await listRequests(deps.db, memberOf(request), filter, { after, limit, now })
      return toPage(
        rows,
        limit,
        (row) => ({ createdAt: row.created_at, id: row.id }),
        (row) => toApprovalRequest(row, now),
      )
    },
  )

  app.get(
    '/vaults/:code/approval-requests/:id',
    route({
      operationId: 'getApprovalRequest',
      summary: 'One approval request with its votes',
      description: 'For its initiator, its approvers and administrators.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(ApprovalRequest) },
    }),
    async (request) => readRequest(deps.db, memberOf(request), request.params.id, deps.clock()),
  )

  app.post(
    '/vaults/:code/approval-requests/composite',
    route({
      operationId: 'createCompositeApprovalRequest',
      summary: 'Do a chain of counterparty actions as one',
      description:
        'Every step is decided by its own policies. All allowed: done at once, all or nothing. Any blocked or denied: 403 and nothing happens. Otherwise the chain waits for the votes of all its steps.',
      tag,
      access: 'member',
      params: VaultParams,
      body: CompositeBody,
      answers: { 200: Ref(AppliedChain), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) =>
      gateSteps(
        deps,
        { request, reply },
        {
          action: 'composite',
          steps: request.body.steps,
          appliers,
          applied: async (_trx, results) => ok({ applied: true, results }),
        },
      ),
  )

  app.post(
    '/vaults/:code/approval-requests/:id/approve',
    route({
      operationId: 'approveApprovalRequest',
      summary: 'Vote for a request',
      description:
        'The last vote needed does what was asked for. When that cannot be done any more the answer is 409, the vote stays, and the request is `failed` or `stale`.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: VoteBody,
      answers: { 200: Ref(ApprovalRequest) },
      errors: [409, 502],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { id } = request.params
      const comment = request.body?.comment ?? null
      return prefetching((fetched) =>
        mutate(deps, request, reply, async (trx) => {
          const now = deps.clock()
          const outcome = await approveRequest(trx, deps.log, { member, id, comment, now, appliers, fetched })
          return 'refusal' in outcome ? outcome : ok(await readRequest(trx, member, id, now))
        }),
      )
    },
  )

  app.post(
    '/vaults/:code/approval-requests/:id/reject',
    route({
      operationId: 'rejectApprovalRequest',
      summary: 'Veto a request, all its steps',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: VoteBody,
      answers: { 200: Ref(ApprovalRequest) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { id } = request.params
      return mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        const stopped = await rejectRequest(trx, deps.log, { member, id, comment: request.body?.comment ?? null, now })
        return stopped ?? ok(await readRequest(trx, member, id, now))
      })
    },
  )

  app.post(
    '/vaults/:code/approval-requests/:id/cancel',
    route({
      operationId: 'cancelApprovalRequest',
      summary: 'Take a request back',
      description: 'By its initiator or an administrator, while it waits.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(ApprovalRequest) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { id } = request.params
      return mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        await cancelRequest(trx, { member, id, now })
        return ok(await readRequest(trx, member, id, now))
      })
    },
  )
}
