import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { assertPerson } from '../../rules/policies/dual-control.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { placeHold } from './place.ts'
import { toHold } from './present.ts'
import { findHold, listHolds } from './queries.ts'
import { Hold, HoldPlacing, HoldQuery, HoldRelease } from './schema.ts'

export function holdRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Holds')
  const gate = createGate(deps, executors)

  api.list(
    '/vaults/:code/holds',
    {
      operationId: 'listHolds',
      summary: 'List holds',
      description:
        'Newest first. Administrators and auditors read all of them, every other member those on what they see and those ' +
        'that they placed. A person who is held reads the holds on themselves, and nothing else of the vault. What a ' +
        'screening held and let go again by itself is listed for its `subjectId` only.',
      access: 'member',
      openToHeld: true,
      params: VaultParams,
      querystring: HoldQuery,
      item: Hold,
    },
    (db, { member, query }, page) => listHolds(db, member, query, page),
    toHold,
  )

  api.get(
    '/vaults/:code/holds/:id',
    {
      operationId: 'getHold',
      summary: 'Get a hold',
      description: 'For those who see it in the list; 404 for everybody else.',
      access: 'member',
      openToHeld: true,
      params: VaultAndIdParams,
      answers: { 200: Hold },
    },
    async (db, { member, params }) => toHold(orNotFound(await findHold(db, member, params.id), 'Hold')),
  )

  api.post(
    '/vaults/:code/holds',
    {
      operationId: 'placeHold',
      summary: 'Place a hold',
      description:
        'Stops an address, the vault, a deposit, a counterparty, a transfer or a person at once, above all policies and ' +
        'votes. Administrators may, and those whom a policy of action type `hold_place` allows it without votes. After the ' +
        'answer nothing is ordered, voted or handed over that the hold forbids; what may have been sent before is counted ' +
        'in `handedOverCount`. 409 `already_exists` while the subject is held.',
      access: 'member',
      errors: ['blocked_by_policy', 'no_policy_allows', 'already_exists', 'last_administrator', 'wrong_state'],
      params: VaultParams,
      body: HoldPlacing,
      answers: { 201: Hold },
    },
    async (trx, { member, body, now }) => {
      const id = await placeHold(trx, body, { member, now })
      return created(toHold(orNotFound(await findHold(trx, member, id), 'Hold')))
    },
  )

  api.send(
    'post',
    '/vaults/:code/holds/:id/release',
    {
      operationId: 'releaseHold',
      summary: 'Ask for the release of a hold',
      description:
        'Takes two people: 202 with the approval request, on which others vote. Policies of action type `hold_release` may ' +
        'name who votes and how many, or block it; without one, another administrator agrees. Services may not.',
      access: 'member',
      errors: ['person_required', 'blocked_by_policy', 'no_policy_allows', 'quorum_unreachable', 'wrong_state'],
      params: VaultAndIdParams,
      body: HoldRelease,
      confirmed: 'where protected',
      answers: { 200: Hold, 202: WaitingAction },
    },
    ({ member, params, body }, http) => {
      assertPerson(member)
      return gate(http, { action: 'hold_release', targetId: params.id, payload: body }, async (trx, id) =>
        // Dual control lets nothing be carried out at once; the gate has this answer for other actions.
        ok(toHold(orNotFound(await findHold(trx, member, id), 'Hold'))),
      )
    },
  )
}
