import { callerOf, memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { answerOnce, created, mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { badRequest } from '../../../lib/errors.ts'
import { addVariant, createVault, lockVault, replaceStructure, updateVariant, updateVault } from './actions.ts'
import { parseDerivationPath } from './derivation.ts'
import { toVariant, toVault } from './present.ts'
import { findVault, listVaultsOf } from './queries.ts'
import {
  DerivationPathInput,
  ParsedDerivationPath,
  RouteParams,
  RoutesReplacement,
  Variant,
  VariantCreation,
  VariantUpdate,
  Vault,
  VaultCreation,
  VaultQuery,
  VaultUpdate,
} from './schema.ts'

const tag = 'Vaults'

export function vaultsRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults',
    route({
      operationId: 'listVaults',
      summary: 'List the vaults that the caller is a member of',
      description: 'Also the way to check a token: 401 when it is not valid.',
      tag,
      access: 'caller',
      querystring: VaultQuery,
      answers: { 200: PageOf(Ref(Vault)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      const rows = await listVaultsOf(deps.db, callerOf(request).userId, { after, limit })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toVault)
    },
  )

  app.post(
    '/vaults',
    route({
      operationId: 'createVault',
      summary: 'Create a draft vault with its derivation structure',
      tag,
      access: 'platform',
      body: VaultCreation,
      answers: { 201: Ref(Vault) },
      errors: [409],
    }),
    async (request, reply) =>
      mutate(deps, request, reply, async (trx) =>
        created(toVault(await createVault(trx, deps, request.body, { caller: callerOf(request), now: deps.clock() }))),
      ),
  )

  app.get(
    '/vaults/:code',
    route({
      operationId: 'getVault',
      summary: 'Read a vault with its networks and routes',
      tag,
      access: 'member',
      params: VaultParams,
      answers: { 200: Ref(Vault) },
    }),
    async (request) => toVault((await findVault(deps.db, memberOf(request).vault.id))!),
  )

  app.patch(
    '/vaults/:code',
    route({
      operationId: 'updateVault',
      summary: 'Change name, description or wallet service of a vault',
      description:
        'A `walletServiceUrl` of another origin (scheme, host or port) wants `walletServiceSecret` in the same request: the secret of the new service, or null for none. Without it the answer is 400 and nothing changes, so that a stored secret never reaches a service that it was not given for. Within the same origin the stored secret stays.',
      tag,
      access: 'administrator',
      params: VaultParams,
      body: VaultUpdate,
      answers: { 200: Ref(Vault) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toVault(await updateVault(trx, deps, member.vault.id, request.body, { caller: member, now: deps.clock() }))),
      )
    },
  )

  app.post(
    '/vaults/:code/lock',
    route({
      operationId: 'lockVault',
      summary: 'Make the structure of a vault final',
      tag,
      access: 'administrator',
      params: VaultParams,
      answers: { 200: Ref(Vault) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toVault(await lockVault(trx, member.vault.id, { caller: member, now: deps.clock() }))),
      )
    },
  )

  app.put(
    '/vaults/:code/routes',
    route({
      operationId: 'replaceRoutes',
      summary: 'Replace networks and routes of a draft vault',
      tag,
      access: 'administrator',
      params: VaultParams,
      body: RoutesReplacement,
      answers: { 200: Ref(Vault) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(
          toVault(
            await replaceStructure(trx, member.vault.id, request.body.routes, { caller: member, now: deps.clock() }),
          ),
        ),
      )
    },
  )

  app.post(
    '/vaults/:code/routes/:routeId/variants',
    route({
      operationId: 'addVariant',
      summary: 'Add a variant to a static route',
      tag,
      access: 'administrator',
      params: RouteParams,
      body: VariantCreation,
      answers: { 201: Ref(Variant) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        created(
          toVariant(
            await addVariant(trx, member.vault.id, request.params.routeId, request.body, {
              caller: member,
              now: deps.clock(),
            }),
          ),
        ),
      )
    },
  )

  app.patch(
    '/vaults/:code/variants/:id',
    route({
      operationId: 'updateVariant',
      summary: 'Rename, enable or disable a variant, or change its token',
      tag,
      access: 'administrator',
      params: VaultAndIdParams,
      body: VariantUpdate,
      answers: { 200: Ref(Variant) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(
          toVariant(
            await updateVariant(trx, member.vault.id, request.params.id, request.body, {
              caller: member,
              now: deps.clock(),
            }),
          ),
        ),
      )
    },
  )

  app.post(
    '/vaults/:code/derivation-path/parse',
    route({
      operationId: 'parseDerivationPath',
      summary: 'Read a derivation path against the structure of a vault',
      tag,
      access: 'member',
      params: VaultParams,
      body: DerivationPathInput,
      answers: { 200: Ref(ParsedDerivationPath) },
    }),
    (request, reply) =>
      answerOnce(deps, request, reply, async () => {
        const vault = toVault((await findVault(deps.db, memberOf(request).vault.id))!)
        const parsed = parseDerivationPath(request.body.path, vault)
        if ('fault' in parsed) throw badRequest('path', parsed.fault)
        return ok(parsed)
      }),
  )
}
