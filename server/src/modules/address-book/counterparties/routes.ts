import { memberOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { created, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { AppError, faulty, notFound } from '../../../lib/errors.ts'
import { gate } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Appliers } from '../../rules/votes/applier.ts'
import { toCounterparty, toCounterpartyAddress } from './present.ts'
import { findCounterparty, findCounterpartyAddress, listCounterparties } from './queries.ts'
import {
  Counterparty,
  CounterpartyAddress,
  CounterpartyAddressParams,
  CounterpartyCreation,
  CounterpartyQuery,
  CounterpartyUpdate,
  NewCounterpartyAddress,
} from './schema.ts'

const tag = 'Counterparties'

export function counterpartyRoutes(app: App, deps: Deps, appliers: Appliers): void {
  app.get(
    '/vaults/:code/counterparties',
    route({
      operationId: 'listCounterparties',
      summary: 'Counterparties of a vault, newest first',
      description: '`search` finds part of a name, an address or a label, whatever its case.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: CounterpartyQuery,
      answers: { 200: PageOf(Ref(Counterparty)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      const rows = await listCounterparties(deps.db, memberOf(request).vault.id, request.query, { after, limit })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toCounterparty)
    },
  )

  app.post(
    '/vaults/:code/counterparties',
    route({
      operationId: 'createCounterparty',
      summary: 'Put a counterparty into the address book',
      description: 'Gated by policies of action type counterparty_create.',
      tag,
      access: 'member',
      params: VaultParams,
      body: CounterpartyCreation,
      answers: { 201: Ref(Counterparty), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_create',
          payload: request.body,
          applied: async (trx, id) => created(await readCounterparty(trx, vault.id, id)),
        },
      )
    },
  )

  app.get(
    '/vaults/:code/counterparties/:id',
    route({
      operationId: 'getCounterparty',
      summary: 'One counterparty with its groups and addresses',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Counterparty) },
    }),
    async (request) => readCounterparty(deps.db, memberOf(request).vault.id, request.params.id),
  )

  app.patch(
    '/vaults/:code/counterparties/:id',
    route({
      operationId: 'updateCounterparty',
      summary: 'Change a counterparty',
      description:
        'Gated by policies of action type counterparty_update. `addAddresses` and `removeAddressIds` belong to the same decision.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: CounterpartyUpdate,
      answers: { 200: Ref(Counterparty), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_update',
          targetId: request.params.id,
          payload: request.body,
          applied: async (trx, id) => ok(await readCounterparty(trx, vault.id, id)),
        },
      )
    },
  )

  app.post(
    '/vaults/:code/counterparties/:id/archive',
    route({
      operationId: 'archiveCounterparty',
      summary: 'Archive a counterparty for good',
      description:
        'Gated by policies of action type counterparty_archive. It stays readable; nothing about it changes any more and nothing is paid to it.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(Counterparty), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_archive',
          targetId: request.params.id,
          payload: {},
          applied: async (trx, id) => ok(await readCounterparty(trx, vault.id, id)),
        },
      )
    },
  )

  app.post(
    '/vaults/:code/counterparties/:id/addresses',
    route({
      operationId: 'addCounterpartyAddress',
      summary: 'Give a counterparty an address',
      description: 'An update: gated by policies of action type counterparty_update.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: NewCounterpartyAddress,
      answers: { 201: Ref(CounterpartyAddress), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const { vault } = memberOf(request)
      return withoutPrefix('addAddresses.0.', () =>
        gate(
          deps,
          { request, reply },
          {
            appliers,
            action: 'counterparty_update',
            targetId: request.params.id,
            payload: { addAddresses: [request.body] },
            applied: async (trx) =>
              created(toCounterpartyAddress((await findCounterpartyAddress(trx, vault.id, request.body))!)),
          },
        ),
      )
    },
  )

  app.delete(
    '/vaults/:code/counterparties/:id/addresses/:addressId',
    route({
      operationId: 'removeCounterpartyAddress',
      summary: 'Take an address away from a counterparty',
      description: 'An update: gated by policies of action type counterparty_update.',
      tag,
      access: 'member',
      params: CounterpartyAddressParams,
      answers: { 202: Ref(WaitingAction), 204: null },
      errors: [409],
    }),
    async (request, reply) =>
      gate(
        deps,
        { request, reply },
        {
          appliers,
          action: 'counterparty_update',
          targetId: request.params.id,
          payload: { removeAddressIds: [request.params.addressId] },
          applied: async () => noContent(),
        },
      ),
  )
}

async function readCounterparty(db: Db | Trx, vaultId: string, id: string) {
  const row = await findCounterparty(db, vaultId, id)
  if (row === null) throw notFound('Counterparty')
  return toCounterparty(row)
}

/** The body stands deeper in the payload of the action: its faults are named as the caller wrote it. */
async function withoutPrefix<Result>(prefix: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || !Array.isArray(error.details)) throw error
    throw faulty(
      error.details.map(({ field, message }) => ({
        field: field.startsWith(prefix) ? field.slice(prefix.length) : field,
        message,
      })),
    )
  }
}
