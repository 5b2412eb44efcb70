import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { answerOnce, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Ref, VaultParams } from '../../../http/schema.ts'
import { badRequest, forbidden } from '../../../lib/errors.ts'
import { toPolicySimulation } from '../../rules/policies/present.ts'
import { findInitiator } from '../../rules/policies/queries.ts'
import { PolicySimulation } from '../../rules/policies/schema.ts'
import type { Appliers } from '../../rules/votes/applier.ts'
import { SimulationOrder } from './schema.ts'
import { simulate } from './simulate.ts'

/** @param appliers what knows how to read the payloads of counterparty actions */
export function simulationRoutes(app: App, deps: Deps, appliers: Appliers): void {
  app.post(
    '/vaults/:code/policies/simulate',
    route({
      operationId: 'simulatePolicies',
      summary: 'What the policies would say to an action',
      description:
        'Changes nothing. Members ask for themselves, administrators for any member; the trace says of every candidate policy why it matches or not.',
      tag: 'Policies',
      access: 'member',
      params: VaultParams,
      body: SimulationOrder,
      answers: { 200: Ref(PolicySimulation) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { actionType, initiatorId = member.userId, targetId = null, payload } = request.body
      if (initiatorId !== member.userId && !member.isAdmin) {
        throw forbidden('Only administrators may simulate the actions of another member')
      }
      return answerOnce(deps, request, reply, async () => {
        const initiator =
          initiatorId === member.userId ? member : await findInitiator(deps.db, member.vault.id, initiatorId)
        if (initiator === null) throw badRequest('initiatorId', 'is no member of the vault, or is disabled')
        const now = deps.clock()
        const decision = await simulate(deps.db, appliers, { member, initiator, actionType, targetId, payload, now })
        return ok(toPolicySimulation(decision, { isAdmin: member.isAdmin, isInitiator: true }))
      })
    },
  )
}
