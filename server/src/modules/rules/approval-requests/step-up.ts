import type { Caller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Confirm } from '../../../http/confirmation.ts'
import { forbidden } from '../../../lib/errors.ts'
import type { GatedAction } from '../votes/executor.ts'

/** The actions that only people may request, because they let stopped funds move again. */
export const steppedUpActions: readonly GatedAction[] = ['hold_release', 'transfer_resolve', 'event_resolve']

/**
 * Demands a passkey confirmation of the request from a person in a protected vault, because an attacker who reads a person's
 * mail can get a session. A service has no passkey: people vote on its requests with signatures.
 * @throws 403 without the passkey; 403 for a service whose request would take effect without votes
 */
export async function assertSteppedUp(
  trx: Trx,
  { caller, confirm, isVotedOn }: { caller: Caller; confirm: Confirm; isVotedOn: boolean },
): Promise<void> {
  if (caller.kind === 'person') await confirm(trx)
  else if (!isVotedOn) throw forbidden('person_required', 'In a protected vault, a service changes no rules by itself')
}
