import type { Static } from 'typebox'
import type { ByMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { PageOf, Ref } from '../../../http/schema.ts'
import { byCreation, pageOf, toPage } from '../../../lib/cursor.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { toBallot } from '../../rules/votes/ballot.ts'
import { CancelBody, VoteBody } from '../../rules/votes/schema.ts'
import { findKeyElsewhere } from '../../vaults/authority/authority.ts'
import type { FeeEstimates } from '../orders/ask-services.ts'
import { orderPayout } from './order.ts'
import { previewPayout } from './payout-preview.ts'
import { findLacking, scoreRows } from './payout-services.ts'
import { cancelPayout, voteOnPayout } from './payout-votes.ts'
import { toPayout, toPayoutRow } from './present.ts'
import { findPayout, isPayoutVisible, listPayouts, listRows } from './queries.ts'
import { atLines, fileRules, payoutFile } from './read-file.ts'
import { Payout, PayoutOrder, PayoutPreview, PayoutQuery, PayoutRow, PayoutRowQuery } from './schema.ts'

/** The errors of signed payouts. */
const ofSigned = ['signature_required', 'approval_expired', 'payload_changed'] as const

const ofRejections = [
  'not_an_approver',
  'signature_required',
  'already_voted',
  'approval_expired',
  'address_exposed',
  'held',
  'payload_changed',
  'payout_halted',
  'wallet_service_failed',
  'wrong_state',
] as const

export function payoutRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Payouts', { access: 'member', scopes: { reads: 'read', writes: 'operate' } })
  const estimates: FeeEstimates = new Map()

  api.send.post('createPayout', '/vaults/:code/payouts', {
    summary: 'Create a payout',
    description:
      'Up to 1,000 payments, as JSON or as a CSV file, that are checked, decided, reserved and voted on as one: all or ' +
      'nothing. 400 names every faulty row in `details`, with its `line`. The policies for transfers decide on each row ' +
      'by itself, together with the others, and with the sums per token as its amount; the strictest result counts for ' +
      'all. 201 with status `awaiting_approval` or `approved`, or 403 with the reason. Each row is a transfer, which ' +
      'waits with the payout and continues by itself after the approval. With `replaces`, it takes the place of a payout of the ' +
      'caller that waits for votes, without some of its rows. ' +
      fileRules,
    errors: [
      'not_permitted',
      'blocked_by_policy',
      'no_policy_allows',
      'already_exists',
      'archived',
      'disabled',
      'address_exposed',
      'held',
      'insufficient_funds',
      'insufficient_gas',
      'quorum_unreachable',
      'payout_halted',
      'wrong_state',
      ...ofSigned,
      'wallet_service_failed',
    ],
    body: PayoutOrder,
    uploads: payoutFile,
    answers: { 201: Payout },
    handler: async ({ member, body, now }, { request, write }) => {
      const lacking = await findLacking(deps, estimates, body, { member, now })
      const riskScores = await scoreRows(deps, body, { member, now })
      const signing = { ...deps, keyElsewhere: await findKeyElsewhere(deps, member, body.signed?.vote) }
      const ending = body.replaces?.signature
      const keyElsewhere = await findKeyElsewhere(deps, member, ending)
      const cancelSignature = { signed: ending, origin: deps.publicOrigin(), keyElsewhere }
      return write(async (trx) => {
        const by = { member, now, signing, riskScores, lacking, log: deps.log, cancelSignature }
        const outcome = await atLines(request, () => orderPayout(trx, body, by))
        if ('refusal' in outcome) return outcome
        return readPayout(trx, outcome.payoutId, { member, now })
      })
    },
  })

  api.calculate('previewPayout', '/vaults/:code/payouts/preview', {
    summary: 'Preview a payout',
    description:
      'Takes the body of a payout and changes nothing. Returns the decision with the row that decides, the sums per ' +
      'token, and the `problems` for which the payout would be refused. Wrong rows are a 400, and rows that the ' +
      'caller may not order a 403.',
    errors: ['not_permitted', 'approval_expired', 'payout_halted', 'wrong_state'],
    body: PayoutOrder,
    uploads: payoutFile,
    answers: { 200: PayoutPreview },
    handler: (_db, { body, ...by }, { request }) =>
      atLines(request, () => previewPayout(deps, body, { ...by, estimates })),
  })

  api.list('listPayouts', '/vaults/:code/payouts', {
    summary: 'List payouts',
    description:
      'Newest first. A member reads the payouts that they initiated and the payouts on which they may vote; administrators ' +
      'and auditors read all payouts of the vault.',
    querystring: PayoutQuery,
    item: Payout,
    load: (db, { member, query, now }, page) => listPayouts(db, member, query, { ...page, now }),
    present: (row, { now }) => toPayout(row, now),
  })

  api.get('getPayout', '/vaults/:code/payouts/:id', {
    summary: 'Get a payout',
    description:
      'With its votes, and the number of its transfers by status. For its initiator, its approvers, ' +
      'administrators and auditors; 404 for everybody else.',
    answers: { 200: Payout },
    handler: (db, { params, ...viewer }) => readPayout(db, params.id, viewer),
  })

  api.get('listPayoutRows', '/vaults/:code/payouts/:id/rows', {
    summary: 'List the rows of a payout',
    description:
      'In their order, with the state of each transfer, and the holds that stop it now. For everybody who sees the payout.',
    querystring: PayoutRowQuery,
    answers: { 200: PageOf(Ref(PayoutRow)) },
    handler: async (db, { member, params: { id }, query }) => {
      orNotFound((await isPayoutVisible(db, member, id)) || null, 'Payout')
      const page = pageOf(query)
      const { status } = query
      const rows = await listRows(db, member, id, { ...page, ...(status === undefined ? {} : { status }) })
      return toPage(rows, page.limit, byCreation, toPayoutRow)
    },
  })

  const votes = {
    approve: {
      summary: 'Approve a payout',
      description:
        'Casts the vote of the caller on all rows, as approveTransfer does on one transfer. With the last vote that is ' +
        'needed all transfers become `pending`, unless one of them is no longer permitted: 409, and the vote is not stored.',
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
        'payload_changed',
        'payout_halted',
        'signature_required',
        'vault_is_draft',
        'wallet_service_failed',
        'wrong_state',
      ],
    },
    reject: {
      summary: 'Reject a payout',
      description:
        'A veto by one of its approvers: all its transfers become `rejected` and their funds are released. 403 for everybody ' +
        'else, 404 if they do not see the payout, 409 when the payout no longer waits for approval.',
      errors: ofRejections,
    },
  } as const
  for (const decision of ['approve', 'reject'] as const) {
    api.send.post(`${decision}Payout`, `/vaults/:code/payouts/:id/${decision}`, {
      ...votes[decision],
      scope: 'vote',
      body: VoteBody,
      answers: { 200: Payout },
      handler: async ({ member, params: { id }, body, now }, { write }) => {
        const keyElsewhere = await findKeyElsewhere(deps, member, body?.signature)
        return write(async (trx) => {
          const ballot = toBallot(body, deps, { member, id, now, keyElsewhere })
          const voted = await voteOnPayout(trx, deps.log, decision, ballot)
          return 'refusal' in voted ? voted : readPayout(trx, id, { member, now })
        })
      },
    })
  }

  api.send.post('cancelPayout', '/vaults/:code/payouts/:id/cancel', {
    summary: 'Cancel a payout',
    description:
      'By its initiator or an administrator, while it waits for votes. After that its transfers are cancelled one by one. With a ' +
      '`signature` (decision `cancel`), votes that were signed before end at the wallet service, too.',
    errors: [
      'not_permitted',
      'held',
      'payload_changed',
      'payout_halted',
      'signature_required',
      'wallet_service_failed',
      'wrong_state',
    ],
    body: CancelBody,
    answers: { 200: Payout },
    handler: async ({ params: { id }, body, ...by }, { write }) => {
      const keyElsewhere = await findKeyElsewhere(deps, by.member, body?.signature)
      const signature = { signed: body?.signature, origin: deps.publicOrigin(), keyElsewhere }
      return write(async (trx) => {
        const refused = await cancelPayout(trx, deps.log, id, { ...by, signature })
        return refused ?? readPayout(trx, id, by)
      })
    },
  })
}

async function readPayout(db: Db | Trx, id: string, { member, now }: ByMember): Promise<Static<typeof Payout>> {
  return toPayout(orNotFound(await findPayout(db, member, id), 'Payout'), now)
}
