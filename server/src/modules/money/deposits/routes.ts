import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { addressScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { callerOf } from '../../../access/caller.ts'
import { createGroupCommit, tooMuchAtOnce } from '../../../db/group-commit.ts'
import type { Deps } from '../../../deps.ts'
import { type App, type Endpoints, endpoints } from '../../../http/endpoints.ts'
import { shedLoad } from '../../../http/load-shedding.ts'
import { createBodyReader } from '../../../http/read-body.ts'
import { route } from '../../../http/route.ts'
import { PageOf, Ref } from '../../../http/schema.ts'
import { byCreation, pageOf, toPage, toTaggedPage } from '../../../lib/cursor.ts'
import { badRequest, forbidden, notFound } from '../../../lib/errors.ts'
import { eventCommitsInFlightMax, eventsPerCommitMax, eventsWaitingMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { parseStrictJson } from '../../../lib/strict-json.ts'
import { feedTag } from '../../operations/feed/feed.ts'
import type { FeedFilters } from '../../operations/feed/feed-filters.ts'
import { noFilters } from '../../operations/feed/feed-filters.ts'
import { createGate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { mayResolve, neverAtOnce, resolutionErrors } from '../resolutions/may-resolve.ts'
import { type Arrival, type ArrivalAnswer, commitWalletEvents } from './actions.ts'
import { parseWalletEvent } from './parse-event.ts'
import { toDeposit, toUncreditedEvent } from './present.ts'
import { findDeposit, listDeposits, listQuarantined, listUncredited, listUncreditedOfNoVault } from './queries.ts'
import { gatherEventEvidence } from './resolve-event.ts'
import {
  Deposit,
  DepositQuery,
  EventResolution,
  UncreditedEvent,
  UncreditedQuery,
  WalletEvent,
  WebhookAnswer,
} from './schema.ts'
import { createSigners } from './signers.ts'

const webhookPath = '/webhooks/wallet'

export function depositRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Deposits', { access: 'member', scopes: { reads: 'read', writes: 'operate' } })
  eventResolutionRoute(api, deps, executors)

  api.get('listDeposits', '/vaults/:code/deposits', {
    summary: 'List deposits',
    description:
      'Newest first. A member reads the deposits to their own addresses, with `includeShared` also the deposits to addresses ' +
      'shared with them. Administrators and auditors read the deposits of the whole vault, and also events that were not ' +
      'credited: `outcome=quarantined` are events that contradict a credited deposit or whose amount the account cannot hold; ' +
      '`outcome=ignored` and `outcome=unmatched` are events that name an address of the vault or that its own webhook ' +
      'secret signed. A credited deposit that the chain lost has `orphaned`. A page may hold fewer items than `limit`, even ' +
      'none, while `nextCursor` is not null.',
    errors: ['administrator_required'],
    querystring: DepositQuery,
    answers: { 200: PageOf(Type.Union([Ref(Deposit), Ref(UncreditedEvent)])) },
    handler: async (db, { member, query, now }) => {
      const { outcome, addressId = null } = query
      const scope = addressScopeOf(member, query)
      if (outcome !== undefined && outcome !== 'credited') {
        if (!member.readsAll)
          throw forbidden(
            'administrator_required',
            'Only administrators and auditors may read events that were not credited',
          )
        const options = { ...pageOf(query), addressId }
        if (outcome === 'quarantined') {
          return toPage(await listQuarantined(db, scope, options), options.limit, byCreation, toDeposit)
        }
        return toPage(await listUncredited(db, scope, { ...options, outcome }), options.limit, arrivedAt, (row) =>
          toUncreditedEvent(row, now),
        )
      }
      const filters: FeedFilters = { ...noFilters, addressId }
      const list = feedTag('deposits', scope, filters)
      return toTaggedPage(await listDeposits(db, scope, filters, pageOf(query, list)), list, toDeposit)
    },
  })

  api.get('getDeposit', '/vaults/:code/deposits/:id', {
    summary: 'Get a deposit',
    description:
      'For the owner of its address, the people with whom the address is shared, administrators and auditors; 404 for ' +
      'everybody else.',
    answers: { 200: Deposit },
    handler: async (db, { member, params }) =>
      toDeposit(orNotFound(await findDeposit(db, visibleScopeOf(member), params.id), 'Deposit')),
  })

  api.list('listWalletEvents', '/wallet-events', {
    summary: 'List unassigned wallet events',
    description:
      'For platform administrators. Authentic events that were not credited and cannot be assigned to a vault: no ' +
      'vault has the address that they name, and they were not signed by the secret of exactly one vault. Events of a ' +
      'vault are read by its administrators and auditors with `GET /vaults/{code}/deposits?outcome=`.',
    access: 'platform',
    querystring: UncreditedQuery,
    item: UncreditedEvent,
    load: (db, { query }, page) => listUncreditedOfNoVault(db, { ...page, outcome: query.outcome }),
    present: (row, { now }) => toUncreditedEvent(row, now),
    position: arrivedAt,
  })
}

/** Two people decide about an event that contradicts the books (contract 7.8). */
function eventResolutionRoute(api: Endpoints<'member'>, deps: Deps, executors: Executors): void {
  const gate = createGate(deps, executors)
  api.send.post('resolveWalletEvent', '/vaults/:code/wallet-events/:id/resolve', {
    summary: 'Resolve a quarantined wallet event',
    description:
      'Asks the wallet service for the transaction, and opens an approval request (202) whose payload holds the answer; ' +
      'before the event is credited, the wallet service is asked again. Two people always act together, whatever the policies ' +
      'say: an administrator, or a member whom a policy for `event_resolve` permits, requests the resolution, and another ' +
      'person approves it. 404 for everybody else. 409 `not_proven` when the chain does not confirm the deposit.',
    errors: resolutionErrors,
    body: EventResolution,
    confirmed: 'where protected',
    answers: { 202: WaitingAction },
    handler: async ({ member, params: { id }, body, now }, http) => {
      const isPermitted = await mayResolve(deps.db, 'event_resolve', { member, now })
      // A caller without the permission does not learn which events exist.
      if (!isPermitted && !member.readsAll) throw notFound('Wallet event')
      assertPerson(callerOf(http.request))
      const evidence = isPermitted ? await gatherEventEvidence(deps, { vaultId: member.vault.id, id }, body) : null
      return gate(http, { action: 'event_resolve', targetId: id, payload: { ...body, evidence } }, neverAtOnce)
    },
  })
}

const arrivedAt = (row: { received_at: Date; id: string }) => ({ createdAt: row.received_at, id: row.id })

/** The inbound webhook; it is outside /api/v1 and reads the raw bytes, because the signature covers them. */
export function webhookRoutes(app: App, deps: Deps): void {
  const arrivals = createGroupCommit<Arrival, ArrivalAnswer>({
    commit: (batch) =>
      commitWalletEvents(deps.db, batch, { now: deps.clock(), isScreened: deps.config.screening !== null }),
    batchMax: eventsPerCommitMax,
    inFlightMax: eventCommitsInFlightMax,
    waitingMax: eventsWaitingMax,
  })
  const signers = createSigners(deps)
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
  app.post(webhookPath, {
    ...route({
      operationId: 'receiveWalletEvent',
      summary: 'Receive a wallet event',
      description:
        'Called by the wallet service, and signed by the Standard Webhooks scheme (`webhook-id`, `webhook-timestamp`, ' +
        '`webhook-signature`). The kind TOPUP credits a deposit, DEPOSIT_ORPHANED takes back the credit of a deposit that ' +
        'the chain no longer has; others are ignored. An event that is sent again changes nothing. A vault ' +
        'with a webhook secret of its own is credited only by events that this secret signed; all other vaults by ' +
        'events that the secret of the installation signed.',
      tag: 'Webhook',
      access: 'public',
      body: WalletEvent,
      answers: { 200: Ref(WebhookAnswer) },
      errors: [413, 415, 'invalid_webhook_signature'],
    }),
    // One wallet service sends the events of all vaults, so the limit per sender does not apply; excess load is rejected above.
    config: { access: 'public' as const, rateLimit: false },
    // The handler parses and validates, because the signature covers the bytes as received.
    validatorCompiler: () => () => true,
    handler: async (request) => {
      const rawBody = request.body as unknown
      if (!Buffer.isBuffer(rawBody)) throw badRequest('body', 'is required', 'malformed_body')
      const signed = signers.read(request.headers, rawBody)
      const signedBy = await signers.find(signed)
      const text = decode(rawBody)
      const event = parseWalletEvent(parse(text))
      const answer = await signers.submit(signed, signedBy, (by) =>
        arrivals.submit({ event, rawBody: text, signedBy: by }),
      )
      if ('fault' in answer) throw answer.fault
      const { outcome, reason, depositId } = answer
      return {
        received: true as const,
        outcome,
        ...(reason === null ? {} : { reason }),
        ...(depositId === null ? {} : { depositId }),
      }
    },
  })
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badRequest('body', 'is not valid UTF-8', 'malformed_body')
  }
}

function parse(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (error) {
    const message = error instanceof SyntaxError ? 'is not valid JSON' : (error as Error).message
    throw badRequest('body', message, 'malformed_body')
  }
}
