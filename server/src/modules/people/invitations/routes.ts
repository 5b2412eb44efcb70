import { Type } from 'typebox'
import { callerOf, memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { IdParams, Ref, VaultParams } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { createInvitation, revokeInvitation } from './actions.ts'
import { toInvitation, toInvitationWithToken } from './present.ts'
import { findInvitation, listInvitations } from './queries.ts'
import { CreateInvitation, Invitation, InvitationQuery } from './schema.ts'

export function invitationRoutes(app: App, deps: Deps): void {
  app.post(
    '/invitations',
    route({
      operationId: 'createInvitation',
      summary: 'Invite an e-mail address into groups of a vault',
      description: 'For administrators of the one vault that all groups belong to. The invitation is mailed.',
      tag: 'Invitations',
      access: 'caller',
      body: CreateInvitation,
      answers: { 201: Ref(Invitation) },
      errors: [403, 404, 409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        const { row, token } = await createInvitation(trx, deps, callerOf(request), request.body, deps.clock())
        return created(toInvitationWithToken(row, token), { secrets: ['token'] })
      }),
  )

  app.get(
    '/invitations/:id',
    route({
      operationId: 'getInvitation',
      summary: 'Read an invitation with its token',
      tag: 'Invitations',
      access: 'caller',
      params: IdParams,
      answers: { 200: Ref(Invitation) },
      errors: [404],
    }),
    async (request) => {
      const row = await findInvitation(deps.db, callerOf(request).userId, request.params.id)
      if (row === null) throw notFound('Invitation')
      return toInvitationWithToken(row, deps.sealer.open(row.token_sealed))
    },
  )

  app.post(
    '/invitations/:id/revoke',
    route({
      operationId: 'revokeInvitation',
      summary: 'Revoke a pending invitation',
      description: 'An accepted one cannot be revoked: remove the member from the groups instead.',
      tag: 'Invitations',
      access: 'caller',
      params: IdParams,
      answers: { 200: Ref(Invitation) },
      errors: [404, 409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) =>
        ok(toInvitation(await revokeInvitation(trx, callerOf(request), request.params.id, deps.clock()))),
      ),
  )

  app.get(
    '/vaults/:code/invitations',
    route({
      operationId: 'listInvitations',
      summary: 'List the invitations of a vault, newest first, without their tokens',
      tag: 'Invitations',
      access: 'administrator',
      params: VaultParams,
      querystring: InvitationQuery,
      answers: { 200: Type.Array(Ref(Invitation)) },
    }),
    async (request) => {
      const rows = await listInvitations(deps.db, memberOf(request).vault.id, request.query.status)
      return rows.map(toInvitation)
    },
  )
}
