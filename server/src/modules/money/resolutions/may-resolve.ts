import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { type AppError, conflict } from '../../../lib/errors.ts'
import { factsOfInitiator, type Initiator } from '../../rules/decisions/decide.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import { decideUnderDualControl } from '../../rules/decisions/dual-control.ts'
import { findAdministratorsId } from '../../rules/policy-groups/memberships.ts'
import type { ActionType } from '../../rules/selectors/facts.ts'
import type { Executor } from '../../rules/votes/executor.ts'

type ResolveAction = Extract<ActionType, 'transfer_resolve' | 'event_resolve' | 'hold_release'>

/** Returns the decision on a resolution or a release, under dual control; policies read only the initiator and the time. */
export async function decideResolution(
  db: Db | Trx,
  actionType: ResolveAction,
  { vaultId, initiator, now }: { vaultId: string; initiator: Initiator; now: Date },
): Promise<Decision> {
  const question = { vaultId, actionType, initiator, facts: factsOfInitiator(initiator, now) }
  return decideUnderDualControl(db, question, await findAdministratorsId(db, vaultId))
}

/** Returns the function that decides a resolution whose payload holds the evidence from the time of its request. */
export function deciding(actionType: ResolveAction, noun: string): NonNullable<Executor['decide']> {
  return async (trx, { vaultId, now }, { step }, initiator) => {
    const decision = await decideResolution(trx, actionType, { vaultId, initiator, now })
    // The policies were changed after the check of the caller.
    if (decision.effect === 'approval' && step.payload.evidence === null) throw changedMeanwhile(noun)
    return decision
  }
}

export const changedMeanwhile = (noun: string): AppError =>
  conflict('changed_concurrently', `The ${noun} was changed by someone else just now`)

/** Returns true if the policies let the caller request a resolution; the wallet service is asked only for such callers. */
export async function mayResolve(
  db: Db,
  actionType: ResolveAction,
  { member, now }: { member: Member; now: Date },
): Promise<boolean> {
  const { effect } = await decideResolution(db, actionType, { vaultId: member.vault.id, initiator: member, now })
  return effect === 'approval'
}

/** Returns a 409 with the finding in place of a proof. */
export const notProven = (found: string): AppError => conflict('not_proven', `Not proven: ${found}`, found)

/** Throws, because an action under dual control must never be carried out at once. */
export function neverAtOnce(): Promise<never> {
  throw new Error('An action under dual control was carried out without a second person')
}

/** The errors of a request for a resolution. */
export const resolutionErrors = [
  'blocked_by_policy',
  'changed_concurrently',
  'no_policy_allows',
  'not_proven',
  'person_required',
  'quorum_unreachable',
  'wrong_state',
  'wallet_service_failed',
] as const
