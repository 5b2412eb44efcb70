import { addressScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { PageOf, Ref } from '../../../http/schema.ts'
import { pageOf, toTaggedPage } from '../../../lib/cursor.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { feedTag } from '../../operations/feed/feed.ts'
import type { FeedFilters } from '../../operations/feed/feed-filters.ts'
import { noFilters } from '../../operations/feed/feed-filters.ts'
import { toPolicyDecision } from '../../rules/decisions/present.ts'
import { toBallot } from '../../rules/votes/ballot.ts'
import { CancelBody, VoteBody } from '../../rules/votes/schema.ts'
import { findKeyElsewhere } from '../../vaults/authority/authority.ts'
import { askServices, type FeeEstimates } from '../orders/ask-services.ts'
import { previewTransfer } from '../orders/order-preview.ts'
import { TransferOrder, TransferPreview } from '../orders/schema.ts'
import { getEvidence } from './evidence.ts'
import { TransferEvidence } from './evidence-schema.ts'
import { orderTransfer } from './place.ts'
import { toTransfer } from './present.ts'
import { findTransfer, findTransferToDecide, listTransfers, type TransferRow } from './queries.ts'
import { Transfer, TransferQuery } from './schema.ts'
import { toDecided } from './to-decide.ts'
import { cancelTransfer, voteOnTransfer } from './transfer-votes.ts'

const ofSignatures = ['signature_required', 'payload_changed'] as const

export function transferRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Transfers', { access: 'member', scopes: { reads: 'read', writes: 'operate' } })

  const estimates: FeeEstimates = new Map()
  api.send.post('createTransfer', '/vaults/:code/transfers', {
    summary: 'Create a transfer',
    description:
      'The policies of the vault decide: 201 with status `pending` or `awaiting_approval`, or 403 with the reason. ' +
      'The amount is reserved at once. 409 for insufficient funds, too little of the coin for the network fee that the ' +
      'wallet service expects, a disabled token, an archived counterparty, or a ' +
      'threshold that the approvers cannot reach. In a protected vault, `signed` holds the vote of the caller for the ' +
      '`order` of a preview: 403 without it, 409 when something else was signed.',
    errors: [
      'not_permitted',
      'blocked_by_policy',
      'no_policy_allows',
      'archived',
      'disabled',
      'address_exposed',
      'held',
      'insufficient_funds',
      'insufficient_gas',
      'quorum_unreachable',
      ...ofSignatures,
      'already_exists',
      'approval_expired',
      'wallet_service_failed',
    ],
    body: TransferOrder,
    answers: { 201: Transfer },
    handler: async ({ member, body, now }, { write }) => {
      const answers = await askServices(deps, estimates, body, { member, now })
      return write(async (trx) => {
        const outcome = await orderTransfer(trx, deps, body, { member, now, answers })
        return 'refusal' in outcome ? outcome : toTransfer(outcome.transfer)
      })
    },
  })

  api.calculate('previewTransfer', '/vaults/:code/transfers/preview', {
    summary: 'Preview a transfer',
    description:
      'Takes the body of a transfer and changes nothing. Returns the decision with its trace and who could vote, the ' +
      '`problems` that the order would meet, the estimated fee (null when the wallet service gives none), the ' +
      'available balance and what would remain of it, whether this is the first payment to `toAddress`, and ' +
      '`warnings`. An order that a 409 or a policy would refuse is a 200 with problems. An invalid order is a 400, and an ' +
      'order that the caller may not place is a 403 or 404. In a protected vault also the `order` to sign.',
    errors: ['not_permitted'],
    body: TransferOrder,
    answers: { 200: TransferPreview },
    handler: (_db, { body, ...by }) => previewTransfer(deps, body, by),
  })

  api.get('listTransfers', '/vaults/:code/transfers', {
    summary: 'List transfers',
    description:
      'Newest first. A member reads transfers from their own addresses and those that they initiated, with ' +
      '`includeShared` also those from addresses shared with them; administrators and auditors those of the whole vault. A page ' +
      'may hold fewer items than `limit`, even none, while `nextCursor` is not null.',
    errors: ['administrator_required'],
    querystring: TransferQuery,
    answers: { 200: PageOf(Ref(Transfer)) },
    handler: async (db, { member, query }) => {
      const scope = addressScopeOf(member, query)
      const filters: FeedFilters = { ...noFilters, statuses: query.status === undefined ? null : [query.status] }
      const list = feedTag('transfers', scope, filters)
      return toTaggedPage(await listTransfers(db, scope, filters, pageOf(query, list)), list, toTransfer)
    },
  })

  api.get('getTransfer', '/vaults/:code/transfers/:id', {
    summary: 'Get a transfer',
    description:
      'With the decision of the policies and its trace, the holds that stop it now, and, for approvers and readers of the ' +
      'whole vault, the present data of the vault about the recipient. For its initiator, the owner of its source address, the ' +
      'people with whom that address is shared, its approvers, administrators and auditors; 404 for everybody else.',
    answers: { 200: Transfer },
    handler: async (db, { member, params }) => {
      const row = orNotFound(await findTransferToDecide(db, member, params.id), 'Transfer')
      const reader = { readsAll: member.readsAll, isInitiator: row.initiator_id === member.userId }
      return { ...toTransfer(row), decision: toPolicyDecision(row.decision, reader), ...toDecided(row) }
    },
  })

  api.get('getTransferEvidence', '/vaults/:code/transfers/:id/evidence', {
    summary: 'Get the evidence of a transfer',
    description:
      'For administrators and auditors of the vault. The order, the policies as they were, the votes, the ledger entries, ' +
      'and the audit records with their seals, in one document that can be verified offline (docs/audit.md).',
    access: 'auditor',
    scope: 'report',
    answers: { 200: TransferEvidence },
    handler: async (db, { member, params }) => getEvidence(db, await getTransfer(db, member, params.id)),
  })

  const votes = {
    approve: {
      summary: 'Approve a transfer',
      description:
        'Casts the vote of the caller, who must be one of its approvers (otherwise 403, or 404 when the caller does not ' +
        'see the transfer); a second vote is a 409. With the last vote that is needed the transfer becomes `pending`, ' +
        'unless it is no longer permitted: 409, and the vote is not stored.',
      errors: [
        'not_an_approver',
        'already_voted',
        'approval_expired',
        'archived',
        'blocked_by_policy_now',
        'disabled',
        'address_exposed',
        'held',
        'initiator_lost_permission',
        'not_in_protected_vault',
        'part_of_payout',
        'payload_changed',
        'signature_required',
        'transfer_halted',
        'vault_is_draft',
        'wallet_service_failed',
        'wrong_state',
      ],
    },
    reject: {
      summary: 'Reject a transfer',
      description:
        'A veto by one of its approvers: the transfer becomes `rejected` and its funds are released. 403 for other members ' +
        '(404 for those who do not see the transfer), 409 when the transfer no longer waits for approval.',
      errors: [
        'not_an_approver',
        'already_voted',
        'approval_expired',
        'address_exposed',
        'held',
        'part_of_payout',
        'payload_changed',
        'signature_required',
        'transfer_halted',
        'wallet_service_failed',
        'wrong_state',
      ],
    },
  } as const
  for (const decision of ['approve', 'reject'] as const) {
    api.send.post(`${decision}Transfer`, `/vaults/:code/transfers/:id/${decision}`, {
      ...votes[decision],
      scope: 'vote',
      body: VoteBody,
      answers: { 200: Transfer },
      handler: async ({ member, params: { id }, body, now }, { write }) => {
        const keyElsewhere = await findKeyElsewhere(deps, member, body?.signature)
        return write(async (trx) => {
          const ballot = toBallot(body, deps, { member, id, now, keyElsewhere })
          const voted = await voteOnTransfer(trx, deps.log, decision, ballot)
          return 'refusal' in voted ? voted : toTransfer(voted)
        })
      },
    })
  }

  api.send.post('cancelTransfer', '/vaults/:code/transfers/:id/cancel', {
    summary: 'Cancel a transfer',
    description:
      'By its initiator or an administrator, until it is handed to the wallet service; 409 after that. Its funds are released. ' +
      'With a `signature` (decision `cancel`), votes that were signed before end at the wallet service, too.',
    errors: [
      'not_permitted',
      'held',
      'part_of_payout',
      'payload_changed',
      'signature_required',
      'transfer_halted',
      'wallet_service_failed',
      'wrong_state',
    ],
    body: CancelBody,
    answers: { 200: Transfer },
    handler: async ({ params: { id }, body, ...by }, { write }) => {
      const keyElsewhere = await findKeyElsewhere(deps, by.member, body?.signature)
      const signature = { signed: body?.signature, origin: deps.publicOrigin(), keyElsewhere }
      return write(async (trx) => {
        const cancelled = await cancelTransfer(trx, deps.log, id, { ...by, signature })
        return 'refusal' in cancelled ? cancelled : toTransfer(cancelled)
      })
    },
  })
}

async function getTransfer(db: Db | Trx, member: Member, id: string): Promise<TransferRow> {
  return orNotFound(await findTransfer(db, member, id), 'Transfer')
}
