import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type pg from 'pg'
import type { Logger } from 'pino'
import { listAccepted } from './accepted/list-accepted.ts'
import { replayEvents } from './accepted/replay-events.ts'
import { assertOwnAddress, deriveAddress } from './addresses.ts'
import { cancelPending } from './authority/cancellation.ts'
import type { Surroundings } from './authority/fit.ts'
import { showProtection, updateAuthority } from './authority/protection.ts'
import { stopOrders } from './authority/stops.ts'
import type { AuthorityStore, Shown } from './authority/store.ts'
import { untoldWarning } from './authority/tell-contacts.ts'
import type { Chain } from './chains/chain.ts'
import { findClientId } from './clients.ts'
import { badField, notFound, unauthorized } from './errors.ts'
import { showAccountKey } from './keys/account-key.ts'
import type { Keyring } from './keys/keyring.ts'
import { authorityBodyBytesMax } from './limits.ts'
import { operations } from './operations.ts'
import type { SigningPage } from './signing/page.ts'
import type { ChangeFeed } from './transfers/change-feed.ts'
import { findReplacement } from './transfers/find-replacement.ts'
import { listChanges } from './transfers/list-changes.ts'
import { getTransfer, listTransfers, orderTransfer, readAmount } from './transfers/order-transfer.ts'
import { quoteReplacement, replaceTransaction } from './transfers/replace-transaction.ts'
import { type PresentedRow, toTransferStatus } from './transfers/transfer-row.ts'

export type AppParts = {
  pool: pg.Pool
  keyring: Keyring
  /** null when no client can be protected. */
  authorities: AuthorityStore | null
  chains: Map<string, Chain>
  /** The settings that the next version of an authority must match. */
  around: Surroundings
  /** The page where people sign; undefined when this service serves no page. */
  signingPage?: SigningPage | undefined
  feed: ChangeFeed
  log: Logger
  /** Called after an order was stored, so that it is signed at once. */
  onOrder(network: string): void
  /** Called after a version of an authority was stored, so that its contacts are told at once. */
  onVersion(): void
  /** Called after events were made due again, so that they are sent at once. */
  onReplay(): void
}

const typed = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()
type Routes = ReturnType<typeof typed>

/** Adds the routes of all operations of the protocol. All operations except `getHealth` need the token of a client. */
export function protocolRoutes(app: FastifyInstance, parts: AppParts): void {
  app.decorateRequest('clientId', '')
  healthRoute(typed(app), parts)
  app.register(async (guarded) => {
    guarded.addHook('onRequest', async (request) => {
      request.setDecorator('clientId', await authenticate(parts.pool, request))
    })
    const routes = typed(guarded)
    addressRoutes(routes, parts)
    transferRoutes(routes, parts)
    acceptedRoutes(routes, parts)
    replacementRoutes(routes, parts)
    chainRoutes(routes, parts)
    authorityRoutes(routes, parts)
  })
}

function healthRoute(routes: Routes, { pool, chains }: AppParts): void {
  routes.get(operations.getHealth.path, { schema: operations.getHealth.schema }, async () => {
    const { rows } = await pool.query<{ network: string; next_block: string }>(
      'select network, next_block from wallet.cursors',
    )
    const nextBlocks = new Map(rows.map((row) => [row.network, Number(row.next_block)]))
    const networks = [...chains.values()].map(({ network, kind, reach }) => ({
      network,
      ...kind,
      reachable: reach.reachable,
      headBlock: reach.headBlock === null ? null : Number(reach.headBlock),
      nextBlock: nextBlocks.get(network) ?? null,
    }))
    return { status: 'ok' as const, networks }
  })
}

/** Adds the routes for addresses, and for the keys of the accounts from which they are derived. */
function addressRoutes(routes: Routes, { pool, keyring, chains }: AppParts): void {
  routes.post(operations.deriveAddress.path, { schema: operations.deriveAddress.schema }, async (request) => {
    const chain = chainOf(chains, request.body.network)
    return { address: await deriveAddress({ pool, keyring, chain }, clientIdOf(request), request.body) }
  })

  routes.get(operations.getAccountKey.path, { schema: operations.getAccountKey.schema }, async (request) => {
    const chain = chainOf(chains, request.query.network)
    return await showAccountKey({ keyring, chain }, clientIdOf(request), request.query)
  })
}

function transferRoutes(routes: Routes, { pool, keyring, authorities, chains, feed, log, onOrder }: AppParts): void {
  routes.post(operations.orderTransfer.path, { schema: operations.orderTransfer.schema }, async (request, reply) => {
    const chain = chainOf(chains, request.body.network)
    const transfer = await orderTransfer({ pool, keyring, authorities, chain }, clientIdOf(request), request.body)
    onOrder(transfer.network)
    return reply.code(202).send(toTransferStatus(transfer))
  })

  routes.get(operations.listChanges.path, { schema: operations.listChanges.schema }, async (request, reply) => {
    const onClosed = (end: () => void) => reply.raw.once('close', end)
    const changes = await listChanges({ pool, feed }, clientIdOf(request), request.query, onClosed)
    // A connection that is kept would hold up a service that stops.
    if (feed.isClosed()) reply.header('connection', 'close')
    return changes
  })

  const present = async (transfer: PresentedRow) => {
    const replacedBy = await findReplacement(chains.get(transfer.network), transfer, log)
    return { ...toTransferStatus(transfer), ...(replacedBy === null ? {} : { replacedBy }) }
  }

  routes.get(operations.getTransfer.path, { schema: operations.getTransfer.schema }, async (request) =>
    present(await getTransfer(pool, clientIdOf(request), request.params.id)),
  )

  routes.get(operations.listTransfers.path, { schema: operations.listTransfers.schema }, async (request) => {
    const transfers = await listTransfers(pool, clientIdOf(request), request.query.ids.split(','))
    return { transfers: await Promise.all(transfers.map(present)) }
  })
}

/** Adds the routes by which the client compares its books with this service, after either of them was restored. */
function acceptedRoutes(routes: Routes, { pool, onReplay }: AppParts): void {
  routes.get(operations.listAccepted.path, { schema: operations.listAccepted.schema }, (request) =>
    listAccepted(pool, clientIdOf(request), request.query),
  )

  routes.post(operations.replayEvents.path, { schema: operations.replayEvents.schema }, async (request, reply) => {
    const replayed = await replayEvents(pool, clientIdOf(request), request.body.ids)
    onReplay()
    return reply.code(202).send({ replayed })
  })
}

/** Adds the routes that replace the transaction of a waiting order by one with a higher fee, or by one that moves no funds. */
function replacementRoutes(routes: Routes, { pool, keyring, authorities, chains, onOrder }: AppParts): void {
  routes.get(operations.quoteReplacement.path, { schema: operations.quoteReplacement.schema }, async (request) => {
    const transfer = await getTransfer(pool, clientIdOf(request), request.params.id)
    return await quoteReplacement({ pool, keyring, authorities, chain: chainOf(chains, transfer.network) }, transfer)
  })

  for (const [operation, kind] of [
    [operations.speedUp, 'payment'],
    [operations.cancelOnChain, 'cancellation'],
  ] as const) {
    routes.post(operation.path, { schema: operation.schema }, async (request, reply) => {
      const { id } = request.params
      const transfer = await getTransfer(pool, clientIdOf(request), id)
      const chain = chainOf(chains, transfer.network)
      await replaceTransaction({ pool, keyring, authorities, chain }, transfer, kind, request.body)
      onOrder(transfer.network)
      return reply.code(202).send(toTransferStatus(await getTransfer(pool, clientIdOf(request), id)))
    })
  }
}

/** Adds the routes that read the chain: balances, fees and transactions. */
function chainRoutes(routes: Routes, { pool, chains }: AppParts): void {
  routes.get(operations.getBalance.path, { schema: operations.getBalance.schema }, async (request) => {
    const chain = chainOf(chains, request.query.network)
    const address = chain.readAddress('address', request.query.address)
    const contract = request.query.contract ? chain.readContract('contract', request.query.contract) : null
    await assertOwnAddress(pool, clientIdOf(request), chain.network, address)
    const { balance, blockNumber } = await chain.readBalance({ address, contract })
    return { balance: balance.toString(), blockNumber: Number(blockNumber) }
  })

  routes.post(operations.estimateFee.path, { schema: operations.estimateFee.schema }, async (request) => {
    const { body } = request
    const chain = chainOf(chains, body.network)
    const payment = {
      fromAddress: chain.readAddress('fromAddress', body.fromAddress),
      toAddress: chain.readRecipient(body.toAddress),
      contractAddress:
        body.contractAddress === null ? null : chain.readContract('contractAddress', body.contractAddress),
      amount: readAmount(body.amount),
    }
    await assertOwnAddress(pool, clientIdOf(request), chain.network, payment.fromAddress)
    chain.checkPayment(payment)
    const { fee, maxFee } = await chain.estimateFee(payment, body.feeLevel)
    return { fee: fee.toString(), maxFee: maxFee.toString(), asset: 'native' as const }
  })

  routes.get(operations.getTransaction.path, { schema: operations.getTransaction.schema }, async (request) => {
    const chain = chainOf(chains, request.query.network)
    const transaction = await chain.readTransaction(chain.readHash('hash', request.params.hash))
    if (transaction === null) throw notFound('Transaction')
    return transaction
  })
}

/** Adds the routes of the authority: the document that names the people whose signatures this service requires. */
function authorityRoutes(routes: Routes, { pool, authorities, around, onVersion }: AppParts): void {
  routes.get(operations.getAuthority.path, { schema: operations.getAuthority.schema }, async (request) => {
    const shown = await showProtection(pool, authorities, clientIdOf(request))
    if (shown === null) throw notFound('Authority')
    return warned(shown, around)
  })

  const ofUpdate = { schema: operations.updateAuthority.schema, bodyLimit: authorityBodyBytesMax }
  routes.post(operations.updateAuthority.path, ofUpdate, async (request) => {
    const shown = await updateAuthority(pool, authorities, clientIdOf(request), request.body, around)
    onVersion()
    return warned(shown, around)
  })

  routes.post(operations.cancelAuthority.path, { schema: operations.cancelAuthority.schema }, (request) =>
    cancelPending(pool, authorities, clientIdOf(request), request.body.votes),
  )

  routes.post(operations.stopOrders.path, { schema: operations.stopOrders.schema }, (request) =>
    stopOrders(pool, authorities, clientIdOf(request), request.body.votes),
  )
}

function warned(shown: Shown, around: Surroundings) {
  const warning = untoldWarning(shown, around)
  return warning === null ? shown : { ...shown, warning }
}

async function authenticate(pool: pg.Pool, request: FastifyRequest): Promise<string> {
  const token = /^Bearer ([!-~]{1,512})$/.exec(request.headers.authorization ?? '')?.[1]
  const clientId = token && (await findClientId(pool, token))
  if (!clientId) throw unauthorized()
  return clientId
}

const clientIdOf = (request: FastifyRequest) => request.getDecorator<string>('clientId')

function chainOf(chains: Map<string, Chain>, network: string): Chain {
  const chain = chains.get(network)
  if (!chain) throw badField('network', 'is not configured here')
  return chain
}
