import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { badRequest } from '../../../lib/errors.ts'
import { createVault } from './create.ts'
import { parseDerivationPath } from './derivation.ts'
import { lockVault } from './lock.ts'
import { toVariant, toVault } from './present.ts'
import { findVault, listVaultsOf } from './queries.ts'
import { replaceStructure } from './replace-structure.ts'
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
import { updateVault } from './update.ts'
import { addVariant, updateVariant } from './variants.ts'

const ofMember = { access: 'member', params: VaultParams } as const
const ofAdministrator = { access: 'administrator', params: VaultParams } as const

export function vaultsRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Vaults')

  api.list(
    '/vaults',
    {
      operationId: 'listVaults',
      summary: 'List the vaults that the caller is a member of',
      description: 'Also the way to check a token: 401 when it is not valid.',
      access: 'caller',
      querystring: VaultQuery,
      item: Vault,
    },
    (db, { caller }, page) => listVaultsOf(db, caller.userId, page),
    toVault,
  )

  api.post(
    '/vaults',
    {
      operationId: 'createVault',
      summary: 'Create a draft vault with its derivation structure',
      access: 'platform',
      body: VaultCreation,
      answers: { 201: Vault },
      errors: [409],
    },
    async (trx, { body, ...by }) => created(toVault(await createVault(trx, deps, body, by))),
  )

  api.get(
    '/vaults/:code',
    {
      operationId: 'getVault',
      summary: 'Read a vault with its networks and routes',
      ...ofMember,
      answers: { 200: Vault },
    },
    async (db, { member }) => toVault((await findVault(db, member.vault.id))!),
  )

  api.patch(
    '/vaults/:code',
    {
      operationId: 'updateVault',
      summary: 'Change name, description or wallet service of a vault',
      description:
        'A `walletServiceUrl` of another origin (scheme, host or port) wants `walletServiceSecret` in the same request: the secret of the new service, or null for none. Without it the answer is 400 and nothing changes, so that a stored secret never reaches a service that it was not given for. Within the same origin the stored secret stays.',
      ...ofAdministrator,
      body: VaultUpdate,
      answers: { 200: Vault },
      errors: [409],
    },
    async (trx, { body, ...by }) => ok(toVault(await updateVault(trx, deps, body, by))),
  )

  api.post(
    '/vaults/:code/lock',
    {
      operationId: 'lockVault',
      summary: 'Make the structure of a vault final',
      ...ofAdministrator,
      answers: { 200: Vault },
      errors: [409],
    },
    async (trx, by) => ok(toVault(await lockVault(trx, by))),
  )

  api.put(
    '/vaults/:code/routes',
    {
      operationId: 'replaceRoutes',
      summary: 'Replace networks and routes of a draft vault',
      ...ofAdministrator,
      body: RoutesReplacement,
      answers: { 200: Vault },
      errors: [409],
    },
    async (trx, { body, ...by }) => ok(toVault(await replaceStructure(trx, body.routes, by))),
  )

  api.post(
    '/vaults/:code/routes/:routeId/variants',
    {
      operationId: 'addVariant',
      summary: 'Add a variant to a static route',
      access: 'administrator',
      params: RouteParams,
      body: VariantCreation,
      answers: { 201: Variant },
      errors: [409],
    },
    async (trx, { params, body, ...by }) => created(toVariant(await addVariant(trx, params.routeId, body, by))),
  )

  api.patch(
    '/vaults/:code/variants/:id',
    {
      operationId: 'updateVariant',
      summary: 'Rename, enable or disable a variant, or change its token',
      access: 'administrator',
      params: VaultAndIdParams,
      body: VariantUpdate,
      answers: { 200: Variant },
      errors: [409],
    },
    async (trx, { params, body, ...by }) => ok(toVariant(await updateVariant(trx, params.id, body, by))),
  )

  api.calculate(
    '/vaults/:code/derivation-path/parse',
    {
      operationId: 'parseDerivationPath',
      summary: 'Read a derivation path against the structure of a vault',
      ...ofMember,
      body: DerivationPathInput,
      answers: { 200: ParsedDerivationPath },
    },
    async (db, { member, body }) => {
      const vault = toVault((await findVault(db, member.vault.id))!)
      const parsed = parseDerivationPath(body.path, vault)
      if ('fault' in parsed) throw badRequest('path', parsed.fault)
      return ok(parsed)
    },
  )
}
