import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { addressScopeOf } from '../../access/address-scope.ts'
import { memberOf } from '../../access/caller.ts'
import type { Trx } from '../../db/client.ts'
import type { Deps } from '../../deps.ts'
import { created, mutate, ok } from '../../http/mutate.ts'
import { type App, route } from '../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../http/schema.ts'
import { pageOf, toPage } from '../../lib/cursor.ts'
import { AppError, notFound, unavailable } from '../../lib/errors.ts'
import { addressIndexAttemptsMax } from '../../lib/limits.ts'
import {
  decideAddress,
  deriveAddress,
  IndexTakenError,
  insertAddress,
  placeAddress,
  refuseAddress,
  updateAddress,
} from './actions.ts'
import { inTurn } from './prefix-queue.ts'
import { toAddress } from './present.ts'
import { type AddressRow, findAddress, listAddresses } from './queries.ts'
import { Address, AddressCreation, AddressQuery, AddressUpdate } from './schema.ts'

const tag = 'Addresses'

type Hooks = {
  /** Called in the transaction that stores an address; credits what arrived for it before. */
  onAddressCreated: (trx: Trx, address: AddressRow) => Promise<void>
}

export function addressRoutes(app: App, deps: Deps, hooks: Hooks): void {
  app.post(
    '/vaults/:code/addresses',
    route({
      operationId: 'createAddress',
      summary: 'Create the next address of a combination of segments',
      description: 'Gated by policies of action type create_address. A failing wallet service leaves nothing behind.',
      tag,
      access: 'member',
      params: VaultParams,
      body: AddressCreation,
      answers: { 201: Ref(Address) },
      errors: [409, 502],
    }),
    async (request, reply) => createAddress(deps, hooks, request, reply, request.body),
  )

  app.get(
    '/vaults/:code/addresses',
    route({
      operationId: 'listAddresses',
      summary: "List addresses: one's own, or all for administrators",
      tag,
      access: 'member',
      params: VaultParams,
      querystring: AddressQuery,
      answers: { 200: PageOf(Ref(Address)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { userId, ...filter } = request.query
      const { after, limit } = pageOf(request.query)
      const rows = await listAddresses(deps.db, addressScopeOf(member, userId), filter, { after, limit })
      return toPage(
        rows,
        limit,
        (row) => ({ createdAt: row.created_at, id: row.id }),
        (row) => toAddress(row, member),
      )
    },
  )

  app.get(
    '/vaults/:code/addresses/:id',
    route({
      operationId: 'getAddress',
      summary: 'Read an address with its balances',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Address) },
    }),
    async (request) => {
      const member = memberOf(request)
      const row = await findAddress(deps.db, addressScopeOf(member), request.params.id)
      if (row === null) throw notFound('Address')
      return toAddress(row, member)
    },
  )

  app.patch(
    '/vaults/:code/addresses/:id',
    route({
      operationId: 'updateAddress',
      summary: "Change label and looks of one's own address",
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: AddressUpdate,
      answers: { 200: Ref(Address) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toAddress(await updateAddress(trx, request.params.id, request.body, { member, now: deps.clock() }), member)),
      )
    },
  )
}

/**
 * The wallet service is asked outside any transaction, then the address is stored in one. What goes wrong before that is
 * thrown inside it, so that a repeated request with the same Idempotency-Key finds the stored answer first.
 */
async function createAddress(
  deps: Deps,
  hooks: Hooks,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Static<typeof AddressCreation>,
): Promise<FastifyReply> {
  const member = memberOf(request)
  const fail = (error: unknown) =>
    mutate(deps, request, reply, async () => {
      throw error
    })

  const now = deps.clock()
  const placed = await settle(placeAddress(deps.db, member.vault.id, body))
  if ('error' in placed) return fail(placed.error)
  const placement = placed.value
  const decision = await decideAddress(deps.db, placement, { member, now })
  if (decision.effect !== 'allow') {
    return mutate(deps, request, reply, (trx) => refuseAddress(trx, placement, decision, { member, now }))
  }

  return inTurn(`${member.vault.id} ${placement.plan.staticPrefix}`, async () => {
    for (let attempt = 1; attempt <= addressIndexAttemptsMax; attempt += 1) {
      const derived = await settle(deriveAddress(deps, member.vault.id, placement))
      if ('error' in derived) return fail(derived.error)
      try {
        return await mutate(deps, request, reply, async (trx) => {
          const by = { member, now: deps.clock() }
          const row = await insertAddress(trx, body, placement, derived.value, by, hooks.onAddressCreated)
          return created(toAddress(row, member))
        })
      } catch (error) {
        if (!(error instanceof IndexTakenError)) throw error
      }
    }
    throw unavailable('Too many addresses are being created here', 1)
  })
}

/** The outcome of work that may end in an answer to the caller; other errors are thrown. */
async function settle<Value>(work: Promise<Value>): Promise<{ value: Value } | { error: AppError }> {
  try {
    return { value: await work }
  } catch (error) {
    if (error instanceof AppError) return { error }
    throw error
  }
}
