import { callerOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, type Endpoints, endpoints } from '../../../http/endpoints.ts'
import { badRequest } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { mayResolve, neverAtOnce, resolutionErrors } from '../resolutions/may-resolve.ts'
import { toTransfer } from '../transfers/present.ts'
import { findTransfer } from '../transfers/queries.ts'
import { Transfer } from '../transfers/schema.ts'
import { findRaise } from './raise-fee.ts'
import { previewReplacement, replaceOnChain } from './replace.ts'
import { gatherEvidence } from './resolve.ts'
import { ReplacementOrder, ReplacementPreview, TransferResolution } from './schema.ts'

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
      'Replaces the transaction that waits by a transaction that moves nothing, with the same nonce. The transfer becomes ' +
      '`failed` when the new transaction is mined, and `confirmed` if the payment is mined after all.',
  },
} as const

export function stuckTransferRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Transfers', { access: 'member', scopes: { reads: 'read', writes: 'operate' } })
  replacementRoutes(api, deps, executors)
  resolutionRoute(api, deps, executors)
}

/** The wallet service is called outside of a transaction. */
function replacementRoutes(api: Endpoints<'member'>, deps: Deps, executors: Executors): void {
  api.calculate('previewTransferReplacement', '/vaults/:code/transfers/:id/replacement-preview', {
    summary: 'Preview the replacement of a transaction',
    description:
      'Present cost of speeding the transfer up and of cancelling it on chain, or the reasons why they are impossible. For ' +
      'its initiator, the owner of its source address and administrators, while it is `pending`.',
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
        '`maxFee` of the order holds. A request with a higher `maxFee` is decided on like an order with that fee: 202 with an ' +
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
        // A repeated request replaces nothing, because it names the transaction that it replaces.
        return http.answerOnce(async () => {
          const refused = await replaceOnChain(deps, id, action, request)
          return refused ?? (await transferNow())
        })
      },
    })
  }
}

/** Two people end a halted transfer, or let it continue (contract 10.8). */
function resolutionRoute(api: Endpoints<'member'>, deps: Deps, executors: Executors): void {
  const gate = createGate(deps, executors)
  api.send.post('resolveTransfer', '/vaults/:code/transfers/:id/resolve', {
    summary: 'Resolve a halted or forgotten transfer',
    description:
      'Asks the wallet service at once, and opens an approval request (202) whose payload holds the answer; with the last ' +
      'vote the wallet service is asked again. Two people always act together, whatever the policies say: an ' +
      'administrator, or a member whom a policy for `transfer_resolve` allows, asks, and another person approves. 409 ' +
      '`not_proven` says what was found instead of a proof, `wrong_state` that the transfer is neither halted nor held back.',
    errors: resolutionErrors,
    body: TransferResolution,
    confirmed: 'where protected',
    answers: { 202: WaitingAction },
    handler: async ({ member, params: { id }, body, now }, http) => {
      orNotFound(await findTransfer(deps.db, member, id), 'Transfer')
      assertPerson(callerOf(http.request))
      const { outcome, txHash = null, reason } = body
      if ((outcome === 'settle') !== (txHash !== null)) {
        throw badRequest('txHash', outcome === 'settle' ? 'is required to settle' : 'belongs to settle only')
      }
      const wish = { outcome, txHash, reason }
      const isPermitted = await mayResolve(deps.db, 'transfer_resolve', { member, now })
      const evidence = isPermitted ? await gatherEvidence(deps, { vaultId: member.vault.id, id }, wish) : null
      return gate(http, { action: 'transfer_resolve', targetId: id, payload: { ...wish, evidence } }, neverAtOnce)
    },
  })
}
