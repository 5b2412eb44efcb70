import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { addressScopeOf, visibleScopeOf } from '../../access/address-scope.ts'
import { memberOf } from '../../access/caller.ts'
import { createGroupCommit, tooMuchAtOnce } from '../../db/group-commit.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Deps } from '../../deps.ts'
import { shedLoad } from '../../http/load-shedding.ts'
import { createBodyReader } from '../../http/read-body.ts'
import { type App, route } from '../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../http/schema.ts'
import { pageOf, toPage, toTaggedPage } from '../../lib/cursor.ts'
import { badRequest, forbidden, notFound } from '../../lib/errors.ts'
import { eventCommitsInFlightMax, eventsPerCommitMax, eventsWaitingMax } from '../../lib/limits.ts'
import { parseStrictJson } from '../../lib/strict-json.ts'
import { type FeedFilters, feedTag, noFilters } from '../operations/feed.ts'
import { type Arrival, type ArrivalAnswer, receiveWalletEvents } from './actions.ts'
import { parseWalletEvent } from './parse-event.ts'
import { toDeposit } from './present.ts'
import { findDeposit, listDeposits, listQuarantined } from './queries.ts'
import { Deposit, DepositQuery, WalletEvent, WebhookAnswer } from './schema.ts'
import { verifySignature } from './signature.ts'

const tag = 'Deposits'
const webhookPath = '/webhooks/wallet'

export function depositRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/deposits',
    route({
      operationId: 'listDeposits',
      summary: 'Deposits, newest first',
      description:
        'A member reads deposits to their own addresses and with `includeShared` to those shared with them, an administrator those of the whole vault. `outcome=quarantined` shows administrators the events that contradict a credited deposit. A page may hold fewer items than `limit`, even none, while `nextCursor` is not null.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: DepositQuery,
      answers: { 200: PageOf(Ref(Deposit)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { outcome, userId, addressId, folderId, includeShared } = request.query
      const scope = addressScopeOf(member, { userId, folderId, includeShared })
      if (outcome === 'quarantined') {
        if (!member.isAdmin) throw forbidden('Only administrators see quarantined deposits')
        const options = { ...pageOf(request.query), addressId: addressId ?? null }
        const rows = await listQuarantined(deps.db, scope, options)
        return toPage(rows, options.limit, (row) => ({ createdAt: row.created_at, id: row.id }), toDeposit)
      }
      const filters: FeedFilters = { ...noFilters, addressId: addressId ?? null }
      const list = feedTag('deposits', scope, filters)
      return toTaggedPage(await listDeposits(deps.db, scope, filters, pageOf(request.query, list)), list, toDeposit)
    },
  )

  app.get(
    '/vaults/:code/deposits/:id',
    route({
      operationId: 'getDeposit',
      summary: 'One deposit',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Deposit) },
    }),
    async (request) => {
      const row = await findDeposit(deps.db, visibleScopeOf(memberOf(request)), request.params.id)
      if (row === null) throw notFound('Deposit')
      return toDeposit(row)
    },
  )
}

/** The inbound webhook; it lives outside /api/v1 and reads raw bytes, because that is what the signature covers. */
export function webhookRoutes(app: App, deps: Deps): void {
  const arrivals = createGroupCommit<Arrival, ArrivalAnswer>({
    commit: (batch) => inTransaction(deps.db, (trx) => receiveWalletEvents(trx, batch, deps.clock())),
    batchMax: eventsPerCommitMax,
    inFlightMax: eventCommitsInFlightMax,
    waitingMax: eventsWaitingMax,
  })
  shedLoad(app.server, {
    path: webhookPath,
    isFull: arrivals.isFull,
    refusal: tooMuchAtOnce(),
    log: deps.log,
  })
  app.removeAllContentTypeParsers()
  const readBody = createBodyReader()
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(request, payload),
  )
  app.post(
    webhookPath,
    {
      ...route({
        operationId: 'receiveWalletEvent',
        summary: 'An event of the wallet service',
        description:
          'Signed by the Standard Webhooks scheme (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Only the kind TOPUP is processed; sending an event again changes nothing.',
        tag: 'Webhook',
        access: 'public',
        body: WalletEvent,
        answers: { 200: Ref(WebhookAnswer) },
        errors: [401, 413, 415],
      }),
      // One wallet service sends what happens to everybody; what is too much is shed above.
      config: { access: 'public' as const, rateLimit: false },
      // The handler parses and validates: what arrives here are the bytes that were signed.
      validatorCompiler: () => () => true,
    },
    async (request) => {
      const rawBody = request.body as unknown
      if (!Buffer.isBuffer(rawBody)) throw badRequest('body', 'is required')
      const now = deps.clock()
      const isSigned = request.headers['webhook-signature'] !== undefined
      if (deps.config.webhookSecrets.length > 0 && (isSigned || !deps.config.demo)) {
        verifySignature({ headers: request.headers, body: rawBody, secrets: deps.config.webhookSecrets, now })
      }
      const text = decode(rawBody)
      const body = parse(text)
      const answer = await arrivals.submit({ event: parseWalletEvent(body), rawBody: text })
      if ('fault' in answer) throw answer.fault
      const { outcome, depositId } = answer
      return { received: true as const, outcome, ...(depositId === null ? {} : { depositId }) }
    },
  )
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badRequest('body', 'is not valid UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (error) {
    throw badRequest('body', error instanceof SyntaxError ? 'is not valid JSON' : (error as Error).message)
  }
}
