import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
import type { Config } from '../../../config.ts'
import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict, type FieldFault, faulty, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { variantsPerRouteMax } from '../../../lib/limits.ts'
import { faultOfWebhookSecrets } from '../../../lib/secret-strength.ts'
import { splitList } from '../../../lib/secrets.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { type ChangeInWords, quote } from '../../record/notifications/describe-change.ts'
import { registerNetwork } from '../../registry/networks/actions.ts'
import {
  findNetworkByCoinType,
  findNetworkBySlug,
  findNetworksOfVaults,
  type NetworkRow,
} from '../../registry/networks/queries.ts'
import { findTokensOfNetworks, type TokenRow } from '../../registry/tokens/queries.ts'
import { faultOfWalletUrl } from '../../registry/wallet-service/base-url.ts'
import { insertSystemGroups } from '../../rules/policies/system-groups.ts'
import {
  findRoute,
  findVariant,
  findVault,
  lockVaultRow,
  type VariantRow,
  type VaultRow,
  type VaultWithStructure,
} from './queries.ts'
import type { VariantCreation, VariantUpdate, VaultCreation, VaultUpdate } from './schema.ts'
import { type Plan, type PlannedVariant, planStructure, planVariant, type RouteInput } from './structure.ts'

type By = { caller: Caller; now: Date }
type WithSecrets = Pick<Deps, 'config' | 'sealer'>

/**
 * Creates a draft vault with its derivation structure and its two built-in groups, all or nothing.
 * @throws 400 with every fault of the structure, 409 when the code is taken
 */
export async function createVault(
  trx: Trx,
  { config, sealer }: WithSecrets,
  body: Static<typeof VaultCreation>,
  { caller, now }: By,
): Promise<VaultWithStructure> {
  const { vault, routes } = body
  const plan = planOrThrow(routes, faultsOfWallet(vault, config, 'vault.'))
  const id = newId(now)
  await trx
    .insertInto('vaults')
    .values({
      id,
      code: vault.code,
      name: vault.name,
      description: vault.description ?? null,
      wallet_service_url: vault.walletServiceUrl,
      wallet_service_secret: vault.walletServiceSecret == null ? null : sealer.seal(vault.walletServiceSecret),
      wallet_webhook_secret: vault.walletWebhookSecret == null ? null : sealer.seal(vault.walletWebhookSecret),
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch((error: unknown) => {
      if (violates(error, 'vaults_code_key')) throw conflict(`The vault code ${vault.code} is taken`)
      throw error
    })
  await insertStructure(trx, id, plan, { caller, now })
  await insertSystemGroups(trx, { vaultId: id, creatorId: caller.userId, now })
  const event = { actorId: caller.userId, action: 'vault.created', targetType: 'vault', targetId: id, now }
  const named = { code: vault.code, name: vault.name }
  const details = { ...named, walletServiceUrl: vault.walletServiceUrl, structure: summaryOf(plan) }
  await insertAuditRecord(trx, { ...event, vaultId: id, details })
  // Platform administrators learn which vaults there are, and nothing of what is in them.
  await insertAuditRecord(trx, { ...event, vaultId: null, details: named })
  return (await findVault(trx, id))!
}

/** Changes what is not structure. A stored bearer secret is never sent to another origin than it was given for. */
export async function updateVault(
  trx: Trx,
  { config, sealer }: WithSecrets,
  vaultId: string,
  body: Static<typeof VaultUpdate>,
  { caller, now }: By,
): Promise<VaultWithStructure> {
  const faults = faultsOfWallet(body, config, '')
  if (faults.length > 0) throw faulty(faults)
  const vault = await lockVaultRow(trx, vaultId)
  if (
    body.walletServiceUrl !== undefined &&
    body.walletServiceSecret === undefined &&
    vault.wallet_service_secret !== null &&
    new URL(body.walletServiceUrl).origin !== new URL(vault.wallet_service_url).origin
  ) {
    throw badRequest('walletServiceSecret', 'is required (or null) when walletServiceUrl moves to another origin')
  }
  const { walletServiceSecret, walletWebhookSecret, ...shown } = body
  await trx
    .updateTable('vaults')
    .set({
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.walletServiceUrl === undefined ? {} : { wallet_service_url: body.walletServiceUrl }),
      ...(walletServiceSecret === undefined
        ? {}
        : { wallet_service_secret: walletServiceSecret === null ? null : sealer.seal(walletServiceSecret) }),
      ...(walletWebhookSecret === undefined
        ? {}
        : { wallet_webhook_secret: walletWebhookSecret === null ? null : sealer.seal(walletWebhookSecret) }),
      updated_at: now,
    })
    .where('id', '=', vaultId)
    .execute()
  const event = {
    vaultId,
    actorId: caller.userId,
    action: 'vault.updated',
    targetType: 'vault',
    targetId: vaultId,
    details: {
      changes: shown,
      isWalletServiceSecretChanged: walletServiceSecret !== undefined,
      isWalletWebhookSecretChanged: walletWebhookSecret !== undefined,
    },
    now,
  }
  const walletService = walletServiceChange(vault, body)
  if (walletService === null) await insertAuditRecord(trx, event)
  else {
    const sentence = `The wallet service of the vault ${quote(vault.name)} was changed`
    await announceVaultChange(trx, { ...event, words: { sentence, ...walletService } })
  }
  return (await findVault(trx, vaultId))!
}

/**
 * What is announced of a new wallet service; null: it stays as it is. Of its URL only the origin is shown, because paths
 * and queries may hold secrets.
 */
function walletServiceChange(
  vault: VaultRow,
  { walletServiceUrl = vault.wallet_service_url, walletServiceSecret, walletWebhookSecret }: Static<typeof VaultUpdate>,
): Pick<ChangeInWords, 'before' | 'after'> | null {
  const isUrlKept = walletServiceUrl === vault.wallet_service_url
  if (isUrlKept && walletServiceSecret === undefined && walletWebhookSecret === undefined) return null
  const [from, to] = [new URL(vault.wallet_service_url), new URL(walletServiceUrl)]
  return {
    before: { 'origin of walletServiceUrl': from.origin },
    after: {
      'origin of walletServiceUrl': to.origin,
      'path of walletServiceUrl': from.href === to.href || from.origin !== to.origin ? null : 'changed',
      walletServiceSecret: changeOfSecret(walletServiceSecret),
      walletWebhookSecret: changeOfSecret(walletWebhookSecret),
    },
  }
}

function changeOfSecret(secret: string | null | undefined): 'removed' | 'replaced' | null {
  if (secret === undefined) return null
  return secret === null ? 'removed' : 'replaced'
}

/**
 * Makes the structure final; addresses may be created from now on.
 * @throws 409 when it is final already
 */
export async function lockVault(trx: Trx, vaultId: string, { caller, now }: By): Promise<VaultWithStructure> {
  const { numUpdatedRows } = await trx
    .updateTable('vaults')
    .set({ locked_at: now, updated_at: now })
    .where('id', '=', vaultId)
    .where('locked_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw conflict('The vault is locked already')
  await insertAuditRecord(trx, {
    vaultId,
    actorId: caller.userId,
    action: 'vault.locked',
    targetType: 'vault',
    targetId: vaultId,
    details: {},
    now,
  })
  return (await findVault(trx, vaultId))!
}

/**
 * Replaces networks and routes of a draft whole.
 * @throws 400 with every fault of the structure, 409 when the vault is locked
 */
export async function replaceStructure(
  trx: Trx,
  vaultId: string,
  routes: Record<string, RouteInput>,
  { caller, now }: By,
): Promise<VaultWithStructure> {
  const plan = planOrThrow(routes, [])
  const vault = await lockVaultRow(trx, vaultId)
  if (vault.locked_at !== null) throw conflict('The vault is locked; its structure is final')
  await trx.deleteFrom('routes').where('vault_id', '=', vaultId).execute()
  await trx.deleteFrom('vault_networks').where('vault_id', '=', vaultId).execute()
  await insertStructure(trx, vaultId, plan, { caller, now })
  await trx.updateTable('vaults').set({ updated_at: now }).where('id', '=', vaultId).execute()
  await insertAuditRecord(trx, {
    vaultId,
    actorId: caller.userId,
    action: 'vault.structure_replaced',
    targetType: 'vault',
    targetId: vaultId,
    details: { structure: summaryOf(plan) },
    now,
  })
  return (await findVault(trx, vaultId))!
}

/**
 * Adds a variant to a static route; before and after locking.
 * @throws 404 for an unknown route, 409 for a dynamic route or a taken id or code
 */
export async function addVariant(
  trx: Trx,
  vaultId: string,
  routeId: string,
  body: Static<typeof VariantCreation>,
  { caller, now }: By,
): Promise<VariantRow> {
  await lockVaultRow(trx, vaultId)
  const route = await findRoute(trx, vaultId, routeId)
  if (route === null) throw notFound('Route')
  if (route.dynamic) throw conflict('A dynamic route has no variants')
  if (route.variants.length >= variantsPerRouteMax) {
    throw conflict(`A route has at most ${variantsPerRouteMax} variants`)
  }
  const planned = planVariant(body, '')
  const tokens = await tokensOfVault(trx, vaultId)
  const tokenId = planned.token === null ? null : resolveToken(planned.token, tokens)
  if (tokenId !== null && typeof tokenId !== 'string') throw badRequest('token', tokenId.fault)
  const row = toVariantRow(vaultId, routeId, planned, tokenId, now)
  await trx
    .insertInto('variants')
    .values(row)
    .execute()
    .catch((error: unknown) => {
      if (violates(error, 'variants_vault_id_route_id_path_id_key')) {
        throw conflict(`The route has a variant with the id ${planned.pathId} already`)
      }
      if (violates(error, 'variants_vault_id_route_id_code_key')) {
        throw conflict(`The route has a variant with the code ${planned.code} already`)
      }
      throw error
    })
  await insertAuditRecord(trx, {
    vaultId,
    actorId: caller.userId,
    action: 'variant.created',
    targetType: 'variant',
    targetId: row.id,
    details: { route: route.code, pathId: planned.pathId, code: planned.code, token: planned.token },
    now,
  })
  return (await findVariant(trx, vaultId, row.id))!
}

/** Renames, enables or disables a variant, or changes its token; its number and code never change. */
export async function updateVariant(
  trx: Trx,
  vaultId: string,
  variantId: string,
  body: Static<typeof VariantUpdate>,
  { caller, now }: By,
): Promise<VariantRow> {
  const tokenId = body.token == null ? null : resolveToken(body.token, await tokensOfVault(trx, vaultId))
  if (tokenId !== null && typeof tokenId !== 'string') throw badRequest('token', tokenId.fault)
  const { numUpdatedRows } = await trx
    .updateTable('variants')
    .set({
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
      ...(body.token === undefined ? {} : { token_id: tokenId }),
      updated_at: now,
    })
    .where('vault_id', '=', vaultId)
    .where('id', '=', variantId)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('Variant')
  await insertAuditRecord(trx, {
    vaultId,
    actorId: caller.userId,
    action: 'variant.updated',
    targetType: 'variant',
    targetId: variantId,
    details: { changes: { ...body } },
    now,
  })
  return (await findVariant(trx, vaultId, variantId))!
}

type Wallet = { walletServiceUrl?: string | undefined; walletWebhookSecret?: string | null | undefined }

/** What is wrong with where a wallet service is and how it signs; `prefix` leads to the two fields. */
function faultsOfWallet(
  { walletServiceUrl, walletWebhookSecret }: Wallet,
  { acceptsWeakSecrets }: Pick<Config, 'acceptsWeakSecrets'>,
  prefix: string,
): FieldFault[] {
  const urlFault = walletServiceUrl === undefined ? null : faultOfWalletUrl(walletServiceUrl)
  const faults = urlFault === null ? [] : [{ field: `${prefix}walletServiceUrl`, message: urlFault }]
  if (walletWebhookSecret != null) {
    const secrets = splitList(walletWebhookSecret)
    // A list of nothing but commas is one empty secret.
    const given = secrets.length === 0 ? [''] : secrets
    const message = faultOfWebhookSecrets(given, { mayBeGuessed: acceptsWeakSecrets })
    if (message !== null) faults.push({ field: `${prefix}walletWebhookSecret`, message })
  }
  return faults
}

function planOrThrow(routes: Record<string, RouteInput>, known: FieldFault[]): Plan {
  const outcome = planStructure(routes)
  const faults = [...known, ...('faults' in outcome ? outcome.faults : [])]
  if (faults.length > 0 || 'faults' in outcome) throw faulty(faults)
  return outcome.plan
}

async function insertStructure(trx: Trx, vaultId: string, plan: Plan, by: By): Promise<void> {
  const networks = await connectNetworks(trx, vaultId, plan, by)
  const tokens = await findTokensOfNetworks(
    trx,
    networks.map(({ id }) => id),
  )
  const routes = plan.routes.map((route) => ({ ...route, id: newId(by.now) }))
  const faults: FieldFault[] = []
  const variants = routes.flatMap((route) =>
    route.variants.map((variant) => {
      const tokenId = variant.token === null ? null : resolveToken(variant.token, tokens)
      if (tokenId !== null && typeof tokenId !== 'string') {
        faults.push({ field: `${variant.field}.token`, message: tokenId.fault })
        return toVariantRow(vaultId, route.id, variant, null, by.now)
      }
      return toVariantRow(vaultId, route.id, variant, tokenId, by.now)
    }),
  )
  if (faults.length > 0) throw faulty(faults)
  if (routes.length > 0) {
    await trx
      .insertInto('routes')
      .values(
        routes.map(({ variants: _, ...route }) => ({
          ...route,
          vault_id: vaultId,
          created_at: by.now,
          updated_at: by.now,
        })),
      )
      .execute()
  }
  if (variants.length > 0) await trx.insertInto('variants').values(variants).execute()
}

/** Known networks are connected as they are; only platform administrators add ones that the registry does not have. */
async function connectNetworks(trx: Trx, vaultId: string, plan: Plan, { caller, now }: By): Promise<NetworkRow[]> {
  const faults: FieldFault[] = []
  const found = new Map<number, NetworkRow>()
  // One order for everybody: two vaults created at once must not wait for each other's networks crosswise.
  for (const network of plan.networks.toSorted((a, b) => a.coinType - b.coinType)) {
    const row = caller.isPlatformAdmin
      ? await registerNetwork(trx, network, { caller, now })
      : await findNetworkByCoinType(trx, network.coinType)
    const named = await findNetworkBySlug(trx, network.slug)
    if (named !== null && named.coin_type !== network.coinType) {
      faults.push({ field: `${network.field}.code`, message: 'is the code of a network with another coin type' })
    } else if (row !== null) found.set(network.coinType, row)
    else {
      faults.push({
        field: `${network.field}.id`,
        message: 'is no network of the registry; a platform administrator adds it',
      })
    }
  }
  if (faults.length > 0) throw faulty(faults)
  const rows = plan.networks.map((network) => found.get(network.coinType)!)
  await trx
    .insertInto('vault_networks')
    .values(rows.map((row, position) => ({ vault_id: vaultId, network_id: row.id, position })))
    .execute()
  return rows
}

async function tokensOfVault(trx: Trx, vaultId: string): Promise<TokenRow[]> {
  const networks = await findNetworksOfVaults(trx, [vaultId])
  return findTokensOfNetworks(
    trx,
    networks.map(({ id }) => id),
  )
}

/** The id of the token that the code means among the tokens of the vault's networks, or why there is none. */
function resolveToken(code: string, tokens: TokenRow[]): string | { fault: string } {
  const [token, ...others] = tokens.filter((candidate) => candidate.code === code)
  if (token === undefined) return { fault: 'is not a token of a network of this vault' }
  if (others.length > 0) {
    const networks = [token, ...others].map((candidate) => candidate.network_slug).join(', ')
    return { fault: `is a token of several networks of this vault: ${networks}` }
  }
  return token.id
}

function toVariantRow(vaultId: string, routeId: string, variant: PlannedVariant, tokenId: string | null, now: Date) {
  return {
    vault_id: vaultId,
    id: newId(now),
    route_id: routeId,
    path_id: variant.pathId,
    code: variant.code,
    name: variant.name,
    description: variant.description,
    enabled: variant.enabled,
    token_id: tokenId,
    created_at: now,
    updated_at: now,
  }
}

function summaryOf(plan: Plan): Record<string, unknown> {
  return {
    networks: plan.networks.map(({ coinType, code }) => ({ coinType, code })),
    routes: plan.routes.map(({ code, dynamic, variants }) => ({
      code,
      dynamic,
      variants: variants.map((variant) => ({ id: variant.pathId, code: variant.code, token: variant.token })),
    })),
  }
}
