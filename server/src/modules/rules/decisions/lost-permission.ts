import { conflict } from '../../../lib/errors.ts'

/** The initiator of something that waits may not ask for it any more. */
export const initiatorLeft = () =>
  conflict('initiator_lost_permission', 'The initiator is disabled or no longer a member of the vault')

/** A policy waived votes because the initiator was an administrator. */
export const waiverLost = () =>
  conflict('initiator_lost_permission', 'A vote was waived for an administrator, and the initiator no longer is one')
