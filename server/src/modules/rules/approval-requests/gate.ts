import type { Static } from 'typebox'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { confirmationOf } from '../../../http/confirmation.ts'
import type { Sending } from '../../../http/endpoints.ts'
import { type Answered, accepted, type Refusal, type Sent } from '../../../http/mutate.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { Reason } from '../../../lib/reasons.ts'
import { listSignedVotes, toVoteEvidence } from '../signatures/queries.ts'
import type { Executors, GatedAction } from '../votes/executor.ts'
import { toApprovalRequest } from './present.ts'
import { findRequest } from './queries.ts'
import { requestAction } from './request-action.ts'
import type { ApprovalRequest, WaitingAction } from './schema.ts'
import { assertSteppedUp, steppedUpActions } from './step-up.ts'
import { prefetching, type RequestAction, type StepResult } from './steps.ts'

export type Waits = Answered<202, Static<typeof WaitingAction>>
type GatedStep = { action: GatedAction; targetId?: string | null; payload: object }

/**
 * Answers gated actions. Returns the result of `applied` when the action was carried out at once, 202 {request} when it waits
 * for votes, and 403 when the policies refuse it. The route documents 202 as `WaitingAction`.
 */
export function createGate(deps: Deps, executors: Executors) {
  return <A = undefined>(
    http: Sending,
    step: GatedStep,
    applied: (trx: Trx, resultId: string, member: Member) => Promise<A> = async () => undefined as A,
  ) =>
    gateSteps(deps, http, {
      action: step.action,
      steps: [step],
      executors,
      applied: (trx, results, member) => applied(trx, results[0]!.resultId, member),
    })
}

/** Returns the reasons for which a gated action is refused: the reasons of every gated action, and `reasons`. */
export const gateErrors = <R extends Reason>(...reasons: R[]) =>
  ['blocked_by_policy', 'no_policy_allows', ...reasons, 'quorum_unreachable'] as const

/** Returns the description of a gated action in OpenAPI. */
export const gatedBy = (action: GatedAction) =>
  `Gated by policies of action type \`${action}\`; 202 with the approval request when votes are required.`

type Gated<A> = {
  action: RequestAction
  steps: GatedStep[]
  executors: Executors
  applied: (trx: Trx, results: StepResult[], member: Member) => Promise<A>
}

/** As `createGate`, for several steps at once. */
export function gateSteps<A>(
  deps: Deps,
  { request, write }: Sending,
  { action, steps, executors, applied }: Gated<A>,
): Promise<Sent<A | Waits | Refusal>> {
  const member = memberOf(request)
  const { approvalTtlHours } = deps.config
  const wanted = steps.map(({ action: name, targetId = null, payload }) => ({
    action: name,
    targetId,
    payload: payload as Record<string, unknown>,
  }))
  return prefetching((fetched) =>
    write(async (trx): Promise<A | Waits | Refusal> => {
      const now = deps.clock()
      const isSteppedUp = steps.some((step) => steppedUpActions.includes(step.action))
      if (isSteppedUp && member.vault.protection === 'votes')
        await assertSteppedUp(trx, { caller: member, confirm: confirmationOf(request), isVotedOn: true })
      const wantedAction = { member, action, steps: wanted, executors, approvalTtlHours, now, fetched }
      const outcome = await requestAction(trx, wantedAction)
      if ('refusal' in outcome) return outcome
      if ('request' in outcome) return accepted({ request: await readRequest(trx, member, outcome.request, now) })
      return applied(trx, outcome.results, member)
    }),
  )
}

/** Reads a request as the member sees it. @throws 404 */
export async function readRequest(
  db: Db | Trx,
  member: Member,
  id: string,
  now: Date,
): Promise<Static<typeof ApprovalRequest>> {
  const request = toApprovalRequest(orNotFound(await findRequest(db, member, id), 'Approval request'), now)
  const signed = await listSignedVotes(db, member.vault.id, id)
  return signed.length === 0 ? request : { ...request, signedVotes: signed.map(toVoteEvidence) }
}
