import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { confirmHold } from './people.ts'
import { placeHold } from './place-hold.ts'
import { toHold } from './present.ts'
import { findHold, listHolds } from './queries.ts'
import { Hold, HoldPlacing, HoldQuery, HoldRelease } from './schema.ts'

export function holdRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Holds', { access: 'member', scopes: { reads: 'read', writes: 'operate' } })
  const gate = createGate(deps, executors)

  api.list('listHolds', '/vaults/:code/holds', {
    summary: 'List holds',
    description:
      'Newest first. Administrators and auditors read all holds. Every other member reads the holds on subjects that they see, ' +
      'and the holds that they placed. A person who is held reads the holds on themselves, and nothing else of the vault. Holds ' +
      'that a screening placed and released by itself are listed only with their `subjectId`.',
    openToHeld: true,
    querystring: HoldQuery,
    item: Hold,
    load: (db, { member, query }, page) => listHolds(db, member, query, page),
    present: toHold,
  })

  api.get('getHold', '/vaults/:code/holds/:id', {
    summary: 'Get a hold',
    description: 'For members who see the hold in the list; 404 for everybody else.',
    openToHeld: true,
    answers: { 200: Hold },
    handler: async (db, { member, params }) => toHold(orNotFound(await findHold(db, member, params.id), 'Hold')),
  })

  api.post('placeHold', '/vaults/:code/holds', {
    summary: 'Place a hold',
    description:
      'Stops an address, the vault, a deposit, a counterparty, a transfer or a person at once, above all policies and ' +
      'votes. For administrators, and for members whom a policy of action type `hold_place` allows it without votes. After the ' +
      'answer nothing is ordered, voted or handed over that the hold forbids; transfers that may have been sent before ' +
      'are counted in `handedOverCount`. 409 `already_exists` while the subject is held. A hold on a person is placed by ' +
      'a person and ends ' +
      'after 72 hours unless a second person confirms it; if it leaves too few people besides you to change the rules or to ' +
      'release a hold, you are suspended as well.',
    errors: [
      ...(['blocked_by_policy', 'no_policy_allows', 'already_exists', 'last_administrator', 'wrong_state'] as const),
      ...(['person_required', 'other_person_required'] as const),
    ],
    body: HoldPlacing,
    answers: { 201: Hold },
    handler: async (trx, { member, body, now }) => {
      const id = await placeHold(trx, body, { member, now })
      return toHold(orNotFound(await findHold(trx, member, id), 'Hold'))
    },
  })

  api.post('confirmHold', '/vaults/:code/holds/:id/confirm', {
    summary: 'Confirm a hold on a person',
    description:
      'A second person who may place holds keeps a hold on a person until it is released. The suspension of the person ' +
      'who placed it ends. 403 `other_person_required` for the person who placed it, 409 `wrong_state` when the hold ' +
      'needs no confirmation.',
    errors: ['blocked_by_policy', 'no_policy_allows', 'person_required', 'other_person_required', 'wrong_state'],
    confirmed: 'where protected',
    answers: { 200: Hold },
    handler: async (trx, { member, params, now, confirm }) => {
      if (member.vault.protection === 'votes') await confirm(trx)
      await confirmHold(trx, params.id, { member, now })
      return toHold(orNotFound(await findHold(trx, member, params.id), 'Hold'))
    },
  })

  api.send.post('releaseHold', '/vaults/:code/holds/:id/release', {
    summary: 'Request the release of a hold',
    description:
      'Takes two people: 202 with the approval request, on which others vote. Policies of action type `hold_release` may ' +
      'name who votes and how many, or block it; without one, another administrator agrees. Services may not request it.',
    errors: ['person_required', 'blocked_by_policy', 'no_policy_allows', 'quorum_unreachable', 'wrong_state'],
    body: HoldRelease,
    confirmed: 'where protected',
    answers: { 200: Hold, 202: WaitingAction },
    handler: ({ member, params, body }, http) => {
      assertPerson(member)
      return gate(http, { action: 'hold_release', targetId: params.id, payload: body }, async (trx, id) =>
        // Under dual control no action is carried out at once; the gate has this answer for other actions.
        toHold(orNotFound(await findHold(trx, member, id), 'Hold')),
      )
    },
  })
}
