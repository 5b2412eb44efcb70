import { addressScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { answerOnce, created, mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toTaggedPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { findLookAlikes } from '../../address-book/recipients/queries.ts'
import { type FeedFilters, feedTag, noFilters } from '../../operations/feed/feed.ts'
import { walletOfVault } from '../../registry/wallet-service/client.ts'
import { toPolicyDecision, toPolicySimulation } from '../../rules/policies/present.ts'
import { VoteBody } from '../../rules/votes/schema.ts'
import { approveTransfer, cancelTransfer, previewTransfer, rejectTransfer, requestTransfer } from './actions.ts'
import { listEvidence } from './evidence.ts'
import type { Order } from './order.ts'
import { toTransfer } from './present.ts'
import { findOwnNewTransfer, findTransfer, listTransfers, type TransferRow } from './queries.ts'
import { Transfer, TransferEvidence, TransferOrder, TransferPreview, TransferQuery } from './schema.ts'

const tag = 'Transfers'

export function transferRoutes(app: App, deps: Deps): void {
  app.post(
    '/vaults/:code/transfers',
    route({
      operationId: 'createTransfer',
      summary: 'Order a transfer',
      description:
        'The policies of the vault decide: 201 with status `pending` or `awaiting_approval`, or 403 with the reason. The amount is reserved at once.',
      tag,
      access: 'member',
      params: VaultParams,
      body: TransferOrder,
      answers: { 201: Ref(Transfer) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { approvalTtlHours } = deps.config
      return mutate(deps, request, reply, async (trx) => {
        const outcome = await requestTransfer(trx, { member, body: request.body, approvalTtlHours, now: deps.clock() })
        return 'refusal' in outcome ? outcome : created(toTransfer(await findOwnNewTransfer(trx, member, outcome)))
      })
    },
  )

  app.post(
    '/vaults/:code/transfers/preview',
    route({
      operationId: 'previewTransfer',
      summary: 'What would happen to an order',
      description:
        'Takes the body of a transfer and changes nothing: the decision with its trace, the fee estimate, what is available, and `warnings`: `look_alike` when toAddress begins and ends like an address that the caller knows and is another.',
      tag,
      access: 'member',
      params: VaultParams,
      body: TransferOrder,
      answers: { 200: Ref(TransferPreview) },
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const scope = visibleScopeOf(member)
      return answerOnce(deps, request, reply, async () => {
        const { order, decision } = await previewTransfer(deps.db, {
          scope,
          initiator: member,
          spends: true,
          body: request.body,
          now: deps.clock(),
        })
        const available = order.source.available ?? '0'
        const lookAlikes = await findLookAlikes(deps.db, scope, [order.to.key])
        const { trace, ...said } = toPolicySimulation(decision, { isAdmin: member.isAdmin, isInitiator: true })
        return ok({
          decision: said,
          trace,
          fee: await estimateFee(deps, member.vault.id, order),
          available,
          availableDecimal: formatDecimal(available, order.source.decimals),
          warnings: lookAlikes.size === 0 ? [] : ['look_alike' as const],
        })
      })
    },
  )

  app.get(
    '/vaults/:code/transfers',
    route({
      operationId: 'listTransfers',
      summary: 'Transfers, newest first',
      description:
        'A member reads transfers from their own addresses and those they ordered, with `includeShared` also those from addresses shared with them; an administrator those of the whole vault. A page may hold fewer items than `limit`, even none, while `nextCursor` is not null.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: TransferQuery,
      answers: { 200: PageOf(Ref(Transfer)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { status, userId, folderId, includeShared } = request.query
      const scope = addressScopeOf(member, { userId, folderId, includeShared })
      const filters: FeedFilters = { ...noFilters, status: status ?? null }
      const list = feedTag('transfers', scope, filters)
      return toTaggedPage(await listTransfers(deps.db, scope, filters, pageOf(request.query, list)), list, toTransfer)
    },
  )

  app.get(
    '/vaults/:code/transfers/:id',
    route({
      operationId: 'getTransfer',
      summary: 'One transfer',
      description:
        'For its initiator, the owner of its source address, its approvers and administrators; with the decision of the policies and its trace.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Transfer) },
    }),
    async (request) => {
      const member = memberOf(request)
      const row = await getTransfer(deps.db, member, request.params.id)
      const reader = { isAdmin: member.isAdmin, isInitiator: row.initiator_id === member.userId }
      return { ...toTransfer(row), decision: toPolicyDecision(row.decision, reader) }
    },
  )

  app.get(
    '/vaults/:code/transfers/:id/evidence',
    route({
      operationId: 'getTransferEvidence',
      summary: 'Everything that proves a transfer',
      description:
        'Order, policies as they were, votes, ledger entries, audit records and their seals; verifiable offline (docs/audit.md).',
      tag,
      access: 'administrator',
      params: VaultAndIdParams,
      answers: { 200: Ref(TransferEvidence) },
    }),
    async (request) => {
      const member = memberOf(request)
      const row = await getTransfer(deps.db, member, request.params.id)
      return {
        schemaVersion: '1' as const,
        transfer: toTransfer(row),
        payload: row.payload,
        payloadHash: row.payload_hash.toString('hex'),
        decision: row.decision,
        ...(await listEvidence(deps.db, row.vault_id, row.id)),
      }
    },
  )

  const votes = { approve: approveTransfer, reject: rejectTransfer }
  for (const [verb, vote] of Object.entries(votes)) {
    app.post(
      `/vaults/:code/transfers/:id/${verb}`,
      route({
        operationId: `${verb}Transfer`,
        summary: verb === 'approve' ? 'Vote for a transfer' : 'Veto a transfer',
        tag,
        access: 'member',
        params: VaultAndIdParams,
        body: VoteBody,
        answers: { 200: Ref(Transfer) },
        errors: [409],
      }),
      async (request, reply) => {
        const member = memberOf(request)
        return mutate(deps, request, reply, async (trx) => {
          const { id } = request.params
          const comment = request.body?.comment ?? null
          const halted = await vote(trx, deps, { member, id, comment, now: deps.clock() })
          return halted ?? ok(await readTransfer(trx, member, request.params.id))
        })
      },
    )
  }

  app.post(
    '/vaults/:code/transfers/:id/cancel',
    route({
      operationId: 'cancelTransfer',
      summary: 'Take a transfer back',
      description: 'By its initiator or an administrator, until it is handed to the wallet service.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Transfer) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const halted = await cancelTransfer(trx, deps, { member, id: request.params.id, now: deps.clock() })
        return halted ?? ok(await readTransfer(trx, member, request.params.id))
      })
    },
  )
}

async function readTransfer(db: Db | Trx, member: Member, id: string) {
  return toTransfer(await getTransfer(db, member, id))
}

async function getTransfer(db: Db | Trx, member: Member, id: string): Promise<TransferRow> {
  const row = await findTransfer(db, member, id)
  if (row === null) throw notFound('Transfer')
  return row
}

/** The wallet service's estimate in the native coin; null when it cannot be had: a preview must not fail for that. */
async function estimateFee(deps: Deps, vaultId: string, order: Order) {
  const coin = await deps.db
    .selectFrom('tokens')
    .select(['code', 'decimals'])
    .where('network_id', '=', order.source.network_id)
    .where('contract_key', '=', '')
    .executeTakeFirst()
  if (coin === undefined) return null
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const { fee } = await wallet.estimateFee({
      network: order.source.network_slug,
      fromAddress: order.source.address,
      toAddress: order.to.address,
      contractAddress: order.source.contract_address,
      amount: order.amount.toString(),
    })
    return { amount: fee, amountDecimal: formatDecimal(fee, coin.decimals), asset: coin.code }
  } catch (error) {
    deps.log.warn({ err: error }, 'no fee estimate')
    return null
  }
}
