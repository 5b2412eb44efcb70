import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { toTransfer } from '../transfers/present.ts'
import { findTransfer } from '../transfers/queries.ts'
import { findRaise } from './raise-fee.ts'
import { previewReplacement, replaceOnChain } from './replace.ts'
import { ReplacementOrder, ReplacementPreview } from './schema.ts'
import { Transfer } from '../transfers/schema.ts'

const actions = {
  'speed-up': {
    operationId: 'speedUpTransfer',
    summary: 'Speed up a transfer',
    description:
      'Replaces the transaction that waits by the same payment with a higher fee and the same nonce. The payment happens ' +
      'at most once, whichever transaction is mined.',
  },
  'cancel-on-chain': {
    operationId: 'cancelTransferOnChain',
    summary: 'Cancel a transfer on chain',
    description:
      'Replaces the transaction that waits by one that moves nothing, with the same nonce. The transfer becomes `failed` ' +
      'when that is mined, and `confirmed` if the payment is mined after all.',
  },
} as const

/** What is done to a transaction that waits: outside a transaction of ours, because the wallet service is called. */
export function replacementRoutes(api: Endpoints<'member'>, deps: Deps, executors: Executors): void {
  api.calculate('previewTransferReplacement', '/vaults/:code/transfers/:id/replacement-preview', {
    summary: 'Preview the replacement of a transaction',
    description:
      'What it would cost now to speed the transfer up or to cancel it on chain, and why either is impossible. For its ' +
      'initiator, the owner of its source address and administrators, while it is `pending`.',
    errors: ['not_permitted', 'wrong_state', 'not_replaceable', 'wallet_service_failed'],
    answers: { 200: ReplacementPreview },
    handler: async (db, { member, params: { id } }) =>
      previewReplacement(deps, orNotFound(await findTransfer(db, member, id), 'Transfer'), member),
  })

  const gate = createGate(deps, executors)
  for (const action of ['speed-up', 'cancel-on-chain'] as const) {
    const { operationId, summary, description } = actions[action]
    api.send.post(operationId, `/vaults/:code/transfers/:id/${action}`, {
      summary,
      description:
        `${description} By its initiator, the owner of its source address or an administrator, without a vote while the ` +
        '`maxFee` of the order holds. A request that names a higher one is decided on like an order with it: 202 with an ' +
        'approval request when votes are needed, 403 when the policies refuse it. Once it is approved, it is handed over. ' +
        '409 when it is impossible now.',
      errors: [
        'not_permitted',
        'blocked_by_policy',
        'no_policy_allows',
        'above_max_fee',
        'above_signed_fee',
        'archived',
        'changed_concurrently',
        'differs_from_record',
        'disabled',
        'address_exposed',
        'held',
        'initiator_lost_permission',
        'not_replaceable',
        'quorum_unreachable',
        'transfer_halted',
        'wrong_state',
        'wallet_service_failed',
      ],
      body: ReplacementOrder,
      answers: { 200: Transfer, 202: WaitingAction },
      handler: async ({ params: { id }, ...request }, http) => {
        const { member, body } = request
        const transferNow = async (db: Db | Trx = deps.db) =>
          toTransfer(orNotFound(await findTransfer(db, member, id), 'Transfer'))
        const raise = await findRaise(deps.db, { member, id, replacement: action, body })
        if (raise !== null) {
          return gate(http, { action: 'transfer_replace', targetId: id, payload: raise }, transferNow)
        }
        // A repetition replaces nothing: the request names the transaction that it replaces.
        return http.answerOnce(async () => {
          const refused = await replaceOnChain(deps, id, action, request)
          return refused ?? (await transferNow())
        })
      },
    })
  }
}
