import type { Deps } from '../../../deps.ts'
import { Closed } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { governedAction } from '../../rules/change-sets/governed-actions.ts'
import { vaultOf } from '../../rules/governance/govern.ts'
import { createInvitation, revokeInvitation } from './actions.ts'
import { CreateInvitation } from './schema.ts'

/** The governed actions on invitations. */
export const invitationActions = (deps: Deps) => ({
  invitation_create: governedAction(
    { operationId: 'createInvitation', target: null, schema: CreateInvitation },
    async (trx, { payload }, { member, now }) => {
      const { row } = await createInvitation(trx, deps, payload, { caller: member, now })
      // The vault is known by the groups.
      if (row.vault_id !== member.vault.id) throw notFound('Policy group')
      return row.id
    },
  ),
  invitation_revoke: governedAction(
    { operationId: 'revokeInvitation', target: 'invitation', schema: Closed({}) },
    async (trx, { targetId }, { member, now }) => {
      if ((await vaultOf(trx, 'invitations', targetId, member.userId)) !== member.vault.id) throw notFound('Invitation')
      return (await revokeInvitation(trx, targetId, { caller: member, now })).id
    },
  ),
})
