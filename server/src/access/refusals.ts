import { conflict, forbidden, notFound } from '../lib/errors.ts'

export const notAMember = () => forbidden('not_a_member', 'You are not a member of this vault')

export const administratorRequired = () =>
  forbidden('administrator_required', 'Only administrators of the vault may do this')

/** Returns the refusal of every request of a member whom a hold stops in the vault. */
export const callerHeld = () =>
  forbidden('caller_held', 'A hold stops you in this vault; list its holds to read who placed it')

/** Returns the refusal of every write of an auditor. */
export const readsOnly = () => forbidden('auditor_reads_only', 'Auditors read the vault and change nothing in it')

/** @throws 404 for a vault that does not exist, 403 for a vault of which the caller is not a member */
export function assertMember<M>({ vaultExists, member }: { vaultExists: boolean; member: M | null }): M {
  if (!vaultExists) throw notFound('Vault')
  if (member === null) throw notAMember()
  return member
}

/** Returns the refusal of a waiting request whose initiator lost the right to make it. */
export const initiatorLeft = () =>
  conflict('initiator_lost_permission', 'The initiator is disabled or no longer a member of the vault')

/** Returns the refusal of a request whose votes a policy waived because the initiator was an administrator. */
export const waiverLost = () =>
  conflict('initiator_lost_permission', 'A vote was waived for an administrator, and the initiator no longer is one')
