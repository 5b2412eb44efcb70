import { Type } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { Ref } from '../../../http/schema.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { govern, governedBy, vaultOf } from '../../rules/governance/govern.ts'
import { createInvitation, revokeInvitation } from './actions.ts'
import { toInvitation, toInvitationWithToken } from './present.ts'
import { findInvitation, listInvitations } from './queries.ts'
import { CreateInvitation, Invitation, InvitationQuery } from './schema.ts'
import { openToken } from './token.ts'

export function invitationRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Invitations', { access: 'caller', scopes: { reads: 'read', writes: 'rules' } })

  api.post('createInvitation', '/invitations', {
    summary: 'Create an invitation',
    description:
      'For administrators of the vault. All groups must belong to one vault. The invitation is sent by mail; the ' +
      'answer holds its token. 409 when an invitation of this e-mail address to the vault is pending.',
    body: CreateInvitation,
    confirmed: 'where protected',
    answers: { 201: Invitation, 202: WaitingAction },
    errors: [
      404,
      'administrator_required',
      'auditor_reads_only',
      'already_exists',
      'limit_reached',
      'quorum_unreachable',
    ],
    secrets: ['token'],
    handler: async (trx, { body, ...by }) => {
      const vaultId = await vaultOf(trx, 'policy_groups', body.groupIds[0]!, by.caller.userId)
      const change = { action: 'invitation_create' as const, targetId: null, payload: body }
      return govern(trx, { deps }, { vaultId, ...by }, change, async () => {
        const { row, token } = await createInvitation(trx, deps, body, by)
        return toInvitationWithToken(row, token)
      })
    },
  })

  api.get('getInvitation', '/invitations/:id', {
    summary: 'Get an invitation',
    description: 'With its token. For administrators of the vault; 404 for everybody else.',
    answers: { 200: Invitation },
    errors: [404],
    handler: async (db, { caller, params }) => {
      const row = orNotFound(await findInvitation(db, caller.userId, params.id), 'Invitation')
      return toInvitationWithToken(row, openToken(deps.sealer, row))
    },
  })

  api.post('revokeInvitation', '/invitations/:id/revoke', {
    summary: 'Revoke an invitation',
    description:
      'For administrators of the vault. Only a pending invitation can be revoked; after acceptance remove the member ' +
      'from the groups instead.',
    confirmed: 'where protected',
    answers: { 200: Invitation, 202: WaitingAction },
    errors: [404, 'wrong_state', 'limit_reached', 'quorum_unreachable'],
    handler: (trx, { params, ...by }) =>
      governedBy(deps, 'invitations')(trx, by, ['invitation_revoke', params.id, {}], async () =>
        toInvitation(await revokeInvitation(trx, params.id, by)),
      ),
  })

  api.get('listInvitations', '/vaults/:code/invitations', {
    summary: 'List invitations',
    description: 'For administrators and auditors of the vault. A plain array, newest first, without tokens.',
    access: 'auditor',
    querystring: InvitationQuery,
    answers: { 200: Type.Array(Ref(Invitation)) },
    handler: async (db, { member, query }) =>
      (await listInvitations(db, member.vault.id, query.status)).map(toInvitation),
  })
}
