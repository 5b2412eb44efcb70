import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type pg from 'pg'
import type { Logger } from 'pino'
import { BaseError, type Hex } from 'viem'
import { assertOwnAddress, deriveAddress, readAddress } from './addresses.ts'
import { readProtection, updateAuthority } from './authority/protection.ts'
import { type AuthorityStore, AuthorityUnavailableError } from './authority/store.ts'
import { describeNodeError } from './chains/describe-node-error.ts'
import { capsOf, defaultFeeLevel } from './chains/fee-caps.ts'
import type { Chain } from './chains/open-chain.ts'
import { estimateGas, readGasPrice } from './chains/price-transfer.ts'
import { readBalance } from './chains/read-balance.ts'
import { readTransaction } from './chains/read-transaction.ts'
import { findClientId } from './clients.ts'
import { badField, type FieldFault, notFound, toErrorBody, unauthorized, WalletError } from './errors.ts'
import { showAccountKey } from './keys/account-key.ts'
import type { Keyring } from './keys/keyring.ts'
import { bodyBytesMax, transferIdLengthMax } from './limits.ts'
import { operations } from './operations.ts'
import type { SigningPage } from './signing/page.ts'
import { signingRoutes } from './signing/routes.ts'
import { findReplacement } from './transfers/find-replacement.ts'
import { getTransfer, orderTransfer, readAmount, readRecipient } from './transfers/order-transfer.ts'
import { quoteReplacement, replaceTransaction } from './transfers/replace-transaction.ts'
import { toTransferStatus } from './transfers/transfer-row.ts'

export type AppParts = {
  pool: pg.Pool
  keyring: Keyring
  /** null: no client can be protected. */
  authorities: AuthorityStore | null
  chains: Map<string, Chain>
  /** The page where people sign; undefined: this service serves none. */
  signingPage?: SigningPage | undefined
  log: Logger
  /** Called after an order was stored, so that it is signed at once. */
  onOrder(network: string): void
}

/** The HTTP side of the protocol. */
export function buildApp({ pool, keyring, authorities, chains, signingPage, log, onOrder }: AppParts): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytesMax,
    // A misspelt field must be an error, and so must a number in place of a string, so Ajv neither drops nor converts.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true } },
    forceCloseConnections: 'idle',
    // An id with every character percent-encoded must reach the schema, which says what is wrong with it.
    routerOptions: { maxParamLength: 3 * transferIdLengthMax },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply as never, log),
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorateRequest('clientId', '')
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply, log))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(toErrorBody(new WalletError(404, 'No such route'))))

  app.get(operations.getHealth.path, { schema: operations.getHealth.schema }, async () => {
    const { rows } = await pool.query<{ network: string; next_block: string }>(
      'select network, next_block from wallet.cursors',
    )
    const nextBlocks = new Map(rows.map((row) => [row.network, Number(row.next_block)]))
    const networks = [...chains.values()].map(({ network, reach }) => ({
      network,
      reachable: reach.reachable,
      headBlock: reach.headBlock === null ? null : Number(reach.headBlock),
      nextBlock: nextBlocks.get(network) ?? null,
    }))
    return { status: 'ok' as const, networks }
  })

  if (signingPage !== undefined) signingRoutes(app, { pool, authorities, chains, page: signingPage })

  app.register(async (guarded) => {
    const routes = guarded.withTypeProvider<TypeBoxTypeProvider>()
    routes.addHook('onRequest', async (request) => {
      request.setDecorator('clientId', await authenticate(pool, request))
    })

    routes.post(operations.deriveAddress.path, { schema: operations.deriveAddress.schema }, async (request) => {
      chainOf(chains, request.body.network)
      return { address: await deriveAddress(pool, keyring, clientIdOf(request), request.body) }
    })

    routes.post(operations.orderTransfer.path, { schema: operations.orderTransfer.schema }, async (request, reply) => {
      chainOf(chains, request.body.network)
      const transfer = await orderTransfer({ pool, keyring, authorities }, clientIdOf(request), request.body)
      onOrder(transfer.network)
      return reply.code(202).send(toTransferStatus(transfer))
    })

    readingRoutes(guarded, { pool, keyring, chains, log })
    authorityRoutes(guarded, { pool, authorities })

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

    routes.get(operations.getBalance.path, { schema: operations.getBalance.schema }, async (request) => {
      const chain = chainOf(chains, request.query.network)
      const address = readAddress('address', request.query.address)
      const contract = request.query.contract ? readAddress('contract', request.query.contract) : null
      await assertOwnAddress(pool, clientIdOf(request), chain.network, address)
      const { balance, blockNumber } = await readBalance(chain, { address, contract })
      return { balance: balance.toString(), blockNumber: Number(blockNumber) }
    })

    routes.post(operations.estimateFee.path, { schema: operations.estimateFee.schema }, async (request) => {
      const { body } = request
      const chain = chainOf(chains, body.network)
      const movement = {
        fromAddress: readAddress('fromAddress', body.fromAddress),
        toAddress: readRecipient(body.toAddress),
        contractAddress: body.contractAddress === null ? null : readAddress('contractAddress', body.contractAddress),
        amount: readAmount(body.amount),
      }
      await assertOwnAddress(pool, clientIdOf(request), chain.network, movement.fromAddress)
      const [{ gas }, price] = await Promise.all([estimateGas(chain, movement), readGasPrice(chain)])
      const caps = capsOf(body.feeLevel ?? defaultFeeLevel, price)
      const fee = gas * (price.baseFeePerGas + caps.maxPriorityFeePerGas)
      return { fee: fee.toString(), maxFee: (gas * caps.maxFeePerGas).toString(), asset: 'native' as const }
    })
  })
  return app
}

/** The document that says whose signatures this service asks for: kept here, and changed by those whom it names. */
function authorityRoutes(guarded: FastifyInstance, { pool, authorities }: Pick<AppParts, 'pool' | 'authorities'>) {
  const routes = guarded.withTypeProvider<TypeBoxTypeProvider>()
  routes.get(operations.getAuthority.path, { schema: operations.getAuthority.schema }, async (request) => {
    const present = await readProtection(pool, authorities, clientIdOf(request))
    if (present === null) throw notFound('Authority')
    return present
  })

  routes.post(operations.updateAuthority.path, { schema: operations.updateAuthority.schema }, (request) =>
    updateAuthority(pool, authorities, clientIdOf(request), request.body),
  )
}

/** The keys of accounts, what became of a transfer, and what a transaction did. */
function readingRoutes(
  guarded: FastifyInstance,
  { pool, keyring, chains, log }: Pick<AppParts, 'pool' | 'keyring' | 'chains' | 'log'>,
): void {
  const routes = guarded.withTypeProvider<TypeBoxTypeProvider>()
  routes.get(operations.getAccountKey.path, { schema: operations.getAccountKey.schema }, async (request) => {
    chainOf(chains, request.query.network)
    return await showAccountKey(keyring, clientIdOf(request), request.query)
  })

  routes.get(operations.getTransfer.path, { schema: operations.getTransfer.schema }, async (request) => {
    const transfer = await getTransfer(pool, clientIdOf(request), request.params.id)
    const replacedBy = await findReplacement(chains.get(transfer.network), transfer, log)
    return { ...toTransferStatus(transfer), ...(replacedBy === null ? {} : { replacedBy: { hash: replacedBy } }) }
  })

  routes.get(operations.getTransaction.path, { schema: operations.getTransaction.schema }, async (request) => {
    const chain = chainOf(chains, request.query.network)
    const transaction = await readTransaction(chain, request.params.hash as Hex)
    if (transaction === null) throw notFound('Transaction')
    return transaction
  })
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

function sendError(error: FastifyError, { id }: FastifyRequest, reply: FastifyReply, log: Logger) {
  const answer = toAnswer(error, log)
  if (answer.code === 503) reply.header('retry-after', '2')
  if (answer.code === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(answer.code).send(toErrorBody(answer, answer.code === 500 ? id : undefined))
}

/** The only place that maps an error to its answer. Of an unexpected error only the request id is sent. */
function toAnswer(error: FastifyError, log: Logger): WalletError {
  if (error instanceof WalletError) return error
  if (error.validation) {
    return new WalletError(
      400,
      'The request does not have the form of the protocol',
      error.validation.map(toFieldFault),
    )
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new WalletError(
      error.statusCode,
      error.message,
      error.statusCode === 400 ? [{ field: '', message: error.message }] : undefined,
    )
  }
  if (error instanceof BaseError) {
    log.warn({ error: describeNodeError(error) }, 'the node did not answer a request')
    return new WalletError(503, 'The node of the network does not answer; try again')
  }
  if (error instanceof AuthorityUnavailableError) {
    log.error({ error: error.message }, 'nothing is signed for a protected client')
    return new WalletError(503, 'The authority of the vault cannot be read; an operator must restore its file')
  }
  if (isDatabaseDown(error)) {
    log.warn({ error: error.message }, 'the database did not answer a request')
    return new WalletError(503, 'The database does not answer; try again')
  }
  log.error({ err: error }, 'request failed')
  return new WalletError(500, 'Unexpected error')
}

type Validation = NonNullable<FastifyError['validation']>[number]

/** Turns Ajv's JSON pointer into a dotted path and names the field that is missing or unknown. */
function toFieldFault({ instancePath, keyword, params, message }: Validation): FieldFault {
  const extra =
    keyword === 'required'
      ? params.missingProperty
      : keyword === 'additionalProperties'
        ? params.additionalProperty
        : undefined
  const field = [...instancePath.split('/').slice(1), ...(extra === undefined ? [] : [String(extra)])].join('.')
  if (keyword === 'additionalProperties') return { field, message: 'is not a field of the protocol' }
  if (keyword === 'required') return { field, message: 'is required' }
  return { field, message: message ?? 'is not valid' }
}

/** Connection faults, and PostgreSQL's classes 08 (connection), 53 (resources) and 57P (shutdown). */
function isDatabaseDown(error: FastifyError): boolean {
  const { code = '', message } = error
  return (
    /^(08|53|57P|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND)/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect/.test(message)
  )
}
