import type { Caller } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { forbidden } from '../../../lib/errors.ts'
import type { ActionType } from '../selectors/facts.ts'
import { decide, type Question } from './decide.ts'
import { type Decision, votesOfPeople } from './decision.ts'

/** The actions that two people carry out together, whatever the policies say. */
export const underDualControl: ReadonlySet<string> = new Set<ActionType>([
  'hold_release',
  'transfer_resolve',
  'event_resolve',
])

/**
 * Decides on an action under dual control (contract 8.12): whatever the policies say, two people carry it out together.
 * Policies may name the voters and their number, or block the action; they cannot waive the second person. Without a policy
 * that requires votes, an administrator other than the initiator must agree.
 *
 * @param administratorsId the group of the administrators
 */
export async function decideUnderDualControl(
  db: Db | Trx,
  question: Question,
  administratorsId: string,
): Promise<Decision> {
  return requireSecondPerson(await decide(db, question), question.initiator, administratorsId)
}

/** The decision of the policies with the second person that dual control adds; pure. */
export function requireSecondPerson(
  decision: Decision,
  { isAdmin }: { isAdmin: boolean },
  administratorsId: string,
): Decision {
  if (decision.effect === 'block') return decision
  if (decision.effect === 'deny' && !isAdmin) return decision
  const requirements = decision.requirements.map((requirement) => {
    return { ...requirement, bypassed: false, allowInitiator: false, peopleOnly: true as const }
  })
  if (requirements.length > 0) return { ...decision, effect: 'approval', requirements }
  const administrators = { id: administratorsId, code: 'two_administrators', name: 'Two administrators' }
  return { ...decision, ...votesOfPeople(administrators, 1) }
}

/**
 * A service acts for the holder of its token, who may be the person that votes afterwards.
 * @throws 403 for a service
 */
export function assertPerson({ kind }: Pick<Caller, 'kind'>): void {
  if (kind === 'person') return
  throw forbidden('person_required', 'Only a person may do this, and the caller is a service: sign in as a person')
}
