import type { Static } from 'typebox'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Http } from '../../../http/endpoints.ts'
import { type Answer, accepted, mutate, type Refusal, type Sent } from '../../../http/mutate.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Executors, GatedAction } from '../votes/executor.ts'
import { prefetching, type StepResult } from './apply.ts'
import type { RequestAction } from './payload.ts'
import { toApprovalRequest } from './present.ts'
import { findRequest } from './queries.ts'
import { requestAction } from './request.ts'
import type { ApprovalRequest, WaitingAction } from './schema.ts'

type Waits = { status: 202; body: Static<typeof WaitingAction> }
type GatedStep = { action: GatedAction; targetId?: string | null; payload: object }

/**
 * Answers a gated action: the answer of `applied`, which gets the id of the result, when it was carried out at once, 202
 * {request} when it waits for votes, 403 when the policies refuse it. The route documents 202 as `Ref(WaitingAction)`.
 */
export function gate<A extends Answer>(
  deps: Deps,
  http: Http,
  {
    executors,
    applied,
    ...step
  }: GatedStep & { executors: Executors; applied: (trx: Trx, resultId: string) => Promise<A> },
): Promise<Sent<A | Waits | Refusal>> {
  return gateSteps(deps, http, {
    action: step.action,
    steps: [step],
    executors,
    applied: (trx, results) => applied(trx, results[0]!.resultId),
  })
}

/** As `gate`, for several steps at once. */
export function gateSteps<A extends Answer>(
  deps: Deps,
  { request, reply }: Http,
  {
    action,
    steps,
    executors,
    applied,
  }: {
    action: RequestAction
    steps: GatedStep[]
    executors: Executors
    applied: (trx: Trx, results: StepResult[]) => Promise<A>
  },
): Promise<Sent<A | Waits | Refusal>> {
  const member = memberOf(request)
  const { approvalTtlHours } = deps.config
  const wanted = steps.map(({ action: name, targetId = null, payload }) => ({
    action: name,
    targetId,
    payload: payload as Record<string, unknown>,
  }))
  return prefetching((fetched) =>
    mutate(deps, request, reply, async (trx): Promise<A | Waits | Refusal> => {
      const now = deps.clock()
      const outcome = await requestAction(trx, {
        member,
        action,
        steps: wanted,
        executors,
        approvalTtlHours,
        now,
        fetched,
      })
      if ('refusal' in outcome) return outcome
      if ('request' in outcome) return accepted({ request: await readRequest(trx, member, outcome.request, now) })
      return applied(trx, outcome.results)
    }),
  )
}

/** A request as the member sees it. @throws 404 */
export async function readRequest(
  db: Db | Trx,
  member: Member,
  id: string,
  now: Date,
): Promise<Static<typeof ApprovalRequest>> {
  const row = await findRequest(db, member, id)
  if (row === null) throw notFound('Approval request')
  return toApprovalRequest(row, now)
}
