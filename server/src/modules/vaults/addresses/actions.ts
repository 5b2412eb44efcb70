import type { Static } from 'typebox'
import { ownScopeOf } from '../../../access/address-scope.ts'
import { type By, type ByMember, byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { AccountKey } from '../../../lib/account-key.ts'
import { AppError, badGateway, badRequest, conflict, faulty, notFound, unavailable } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { addressIndexAttemptsMax, pathIndexMax } from '../../../lib/limits.ts'
import { type OnchainAddress, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { audit } from '../../record/audit/record.ts'
import type { NetworkOfVault } from '../../registry/networks/queries.ts'
import { findTokensOfNetworks } from '../../registry/tokens/queries.ts'
import { throwBadGateway } from '../../registry/wallet-service/call.ts'
import type { Executor, Step } from '../../rules/votes/executor.ts'
import { findVault } from '../structure/queries.ts'
import { pinAccountKeys, recordOfKeys } from '../wallets/account-keys.ts'
import { assertFollows, findUsedKey, type UsedKey } from '../wallets/check-address.ts'
import { assertCompared, HaltedVaultError, haltedError } from '../wallets/compare-accepted.ts'
import { noteStoredPath, recordAskedPath } from '../wallets/wallet-marks.ts'
import { isSameWallet, keepWallet, openWallet, type PresentWallet, walletOfVault } from '../wallets/wallet-settings.ts'
import { type AddressPlan, planAddress } from './plan-address.ts'
import { inTurn } from './prefix-queue.ts'
import { type AddressRow, type AddressWithBalances, findAddress, findNextIndex, lockOnchainAddress } from './queries.ts'
import type { AddressCreation, AddressUpdate } from './schema.ts'

type Hooks = {
  /** Called in the transaction that stores an address. It credits events that arrived before the address. */
  onAddressCreated: (trx: Trx, address: AddressRow) => Promise<void>
}

/** The address from the wallet service, or the error that `apply` throws. */
type Fetched = { derivation: Derivation } | { fault: AppError }

/** Creates the next address of a combination of segments; the initiator becomes its owner. */
export function createAddressExecutor(deps: Deps, { onAddressCreated }: Hooks): Executor {
  return {
    async prepare(db, { vaultId }, step) {
      const { network, plan } = await placeAddress(db, vaultId, payloadOf(step))
      return {
        step,
        targetType: 'address',
        targetId: null,
        baseVersion: null,
        facts: {
          networkSlug: network.slug,
          routeVariants: plan.variants,
          ...(plan.token === null ? {} : { token: { id: plan.token.id, code: plan.token.code } }),
        },
      }
    },

    async prefetch(context, step, use) {
      const placed = await settle(placeAddress(deps.db, context.vaultId, payloadOf(step)))
      if ('fault' in placed) return use(placed satisfies Fetched)
      const placement = placed.value
      return inTurn(`${context.vaultId} ${placement.plan.staticPrefix}`, async (deadline) => {
        for (let attempt = 1; attempt <= addressIndexAttemptsMax; attempt += 1) {
          const derived = await settle(deriveAddress(deps, context.vaultId, placement, deadline))
          const fetched: Fetched = 'fault' in derived ? derived : { derivation: derived.value }
          try {
            return await use(fetched)
          } catch (error) {
            if (!(error instanceof OutdatedDerivationError)) throw error
          }
        }
        throw unavailable('overloaded', 'Too many addresses of this path are being created at the moment', 1)
      })
    },

    async apply(trx, { vaultId, initiatorId, now }, step, _baseVersion, prepared) {
      const fetched = prepared as Fetched
      if ('fault' in fetched) throw fetched.fault
      const payload = payloadOf(step)
      const placement = await placeAddress(trx, vaultId, payload)
      const { derivation } = fetched
      const by = { vaultId, actorId: initiatorId, now }
      return { resultId: await insertAddress(trx, payload, placement, derivation, by, onAddressCreated) }
    },
  }
}

/** Returns the payload of a step. The route has validated it as AddressCreation, and its hash ensures that it is unchanged. */
function payloadOf(step: Step): Static<typeof AddressCreation> {
  return step.payload as Static<typeof AddressCreation>
}

/** Returns a fault of the request as a value; errors of the wallet service or the database are thrown. */
async function settle<Value>(work: Promise<Value>): Promise<{ value: Value } | { fault: AppError }> {
  try {
    return { value: await work }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return { fault: error }
    throw error
  }
}

type Creation = Static<typeof AddressCreation>

type Placement = { network: NetworkOfVault; plan: AddressPlan }

/** The address for an index of a placement, the wallet service that derived it, and the key from which it follows. */
export type Derivation = {
  index: number
  onchain: OnchainAddress
  wallet: PresentWallet
  used: UsedKey | null
  /** The operator who takes in an address that the books had lost, while the vault is halted. */
  recoveredBy?: string
}

/**
 * Finds the place of a new address in the vault's structure.
 * @throws 409 while the vault is a draft or a chosen route, variant or token is disabled, 400 for an unknown one
 */
export async function placeAddress(db: Db | Trx, vaultId: string, body: Creation): Promise<Placement> {
  const vault = (await findVault(db, vaultId))!
  if (vault.locked_at === null)
    throw conflict('vault_is_draft', 'The vault is a draft; lock it before creating addresses')
  const network = vault.networks.find(({ slug }) => slug === body.network)
  if (network === undefined) throw badRequest('network', 'is not a network of this vault')
  const tokens = await findTokensOfNetworks(db, [network.id])
  const outcome = planAddress(
    network.coin_type,
    vault.routes.map((route) => ({
      code: route.code,
      dynamic: route.dynamic,
      variants: route.variants.map((variant) => ({
        pathId: Number(variant.path_id),
        code: variant.code,
        enabled: variant.enabled,
        tokenId: variant.token_id,
      })),
    })),
    tokens.map(({ id, code, enabled, contract_key }) => ({ id, code, enabled, isNative: contract_key === '' })),
    body,
  )
  if ('faults' in outcome) throw faulty(outcome.faults)
  if ('conflict' in outcome) throw conflict('disabled', outcome.conflict)
  return { network, plan: outcome.plan }
}

/**
 * Requests the next address under the prefix from the wallet service, without an open transaction.
 * @throws 409 when the prefix is used up or the vault is halted, 502 when the wallet service fails, or returns an invalid
 *   address or one that does not follow from the pinned key
 */
export async function deriveAddress(
  deps: Deps,
  vaultId: string,
  { network, plan }: Placement,
  deadline: AbortSignal,
): Promise<Derivation> {
  const { wallet, client } = await openWallet(deps, vaultId)
  // The comparison may raise the lowest index, so it comes first.
  await assertCompared(deps, vaultId, () => walletOfVault(deps, vaultId))
    .catch((error: unknown) => {
      throw error instanceof HaltedVaultError ? haltedError(error.reason) : error
    })
    .catch(throwBadGateway)
  const index = await findNextIndex(deps.db, vaultId, plan)
  if (!plan.hasIndex && index > 0)
    throw conflict(
      'already_exists',
      'This combination of segments already has an address, and it has no dynamic segment',
    )
  if (index > pathIndexMax) throw conflict('limit_reached', 'All indexes of this combination of segments are in use')
  const order = { network: network.slug, coinType: network.coin_type, derivationPath: plan.pathAt(index) }
  const used = await findUsedKey(
    deps,
    wallet,
    client,
    { ...order, type: network.type, addressCheck: network.address_check },
    deadline,
  )
  await recordAskedPath(deps.db, vaultId, order.derivationPath, deps.clock())
  const { address } = await client.createAddress(order, deadline).catch(throwBadGateway)
  const onchain = parseOnchainAddress(address, network.type)
  if (onchain === null) throw badGateway('The wallet service returned an invalid answer')
  if (used !== null) assertFollows(deps, used, vaultId, onchain, order.derivationPath)
  return { index, onchain, wallet, used }
}

/** Thrown when another node took the index, or the wallet service was replaced, after the address was derived. */
class OutdatedDerivationError extends Error {}

/**
 * Stores the address, whose owner is the actor, and credits the events that arrived before it; returns its id.
 * @throws OutdatedDerivationError, or 502 when the on-chain address already exists
 */
export async function insertAddress(
  trx: Trx,
  body: Creation,
  { network, plan }: Placement,
  { index, onchain, wallet, used, recoveredBy }: Derivation,
  by: By,
  onAddressCreated: (trx: Trx, address: AddressRow) => Promise<void>,
): Promise<string> {
  const { vaultId, actorId, now } = by
  const present = await keepWallet(trx, vaultId)
  if (present.halt_reason !== null && recoveredBy === undefined) throw haltedError(present.halt_reason)
  if (!isSameWallet(wallet, present) || wallet.wallet_key !== present.wallet_key) throw new OutdatedDerivationError()
  if (used === null && (await isChecked(trx, vaultId, network.id))) throw new OutdatedDerivationError()
  if (used?.isNew) await pinNewKey(trx, used.key, by)
  await lockOnchainAddress(trx, network.id, onchain.key)
  const row = await trx
    .insertInto('addresses')
    .values({
      vault_id: vaultId,
      id: newId(now),
      network_id: network.id,
      address: onchain.address,
      address_key: onchain.key,
      derivation_path: plan.pathAt(index),
      static_prefix: plan.staticPrefix,
      path_index: index,
      segments: JSON.stringify(plan.segments),
      owner_id: actorId,
      token_id: plan.token?.id ?? null,
      label: body.label ?? null,
      description: body.description ?? null,
      tags: body.tags ?? [],
      logo_uri: body.logoUri ?? null,
      color: body.color ?? null,
      emoji: body.emoji ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      const isIndexTaken =
        violates(error, 'addresses_vault_id_static_prefix_path_index_key') ||
        violates(error, 'addresses_vault_id_network_id_derivation_path_key')
      if (isIndexTaken) throw new OutdatedDerivationError()
      if (violates(error, 'addresses_on_chain')) {
        throw badGateway('The wallet service returned the address of another derivation path')
      }
      throw error
    })
  await noteStoredPath(trx, vaultId, row.derivation_path)
  await onAddressCreated(trx, row)
  const { address, derivation_path: derivationPath } = row
  const recovered = recoveredBy === undefined ? {} : { recoveredBy }
  const details = { network: network.slug, address, derivationPath, token: plan.token?.code ?? null, ...recovered }
  await audit(trx, by, 'address.created', { type: 'address', id: row.id }, details)
  return row.id
}

/** Returns true if addresses of the network must follow from a pinned key, now that the wallet service of the vault is kept. */
async function isChecked(trx: Trx, vaultId: string, networkId: string): Promise<boolean> {
  const { address_check } = await trx
    .selectFrom('vault_networks')
    .select('address_check')
    .where('vault_id', '=', vaultId)
    .where('network_id', '=', networkId)
    .executeTakeFirstOrThrow()
  return address_check === 'derived'
}

/** Pins the key of the first address of an account, which binds the wallet service to the key. */
async function pinNewKey(trx: Trx, key: AccountKey, by: By): Promise<void> {
  const { vaultId, now } = by
  const added = await pinAccountKeys(trx, vaultId, [key], now)
  if (added.length === 0) return
  const details = { accountKeys: recordOfKeys(added) }
  await audit(trx, by, 'vault.account_key_pinned', { type: 'vault', id: vaultId }, details)
}

/**
 * Changes label and appearance of an own address, but never its on-chain address, path or ledger.
 * @throws 404 for an address of another owner, also for administrators
 */
export async function updateAddress(
  trx: Trx,
  id: string,
  body: Static<typeof AddressUpdate>,
  by: ByMember,
): Promise<AddressWithBalances> {
  const { member, now } = by
  const { label, description, tags, logoUri, color, emoji } = body
  const { numUpdatedRows } = await trx
    .updateTable('addresses')
    // Kysely leaves undefined fields out of the statement.
    .set({ label, description, tags, logo_uri: logoUri, color, emoji, updated_at: now })
    .where('vault_id', '=', member.vault.id)
    .where('id', '=', id)
    .where('owner_id', '=', member.userId)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('Address')
  await audit(trx, byMember(by), 'address.updated', { type: 'address', id }, { changes: { ...body } })
  return (await findAddress(trx, ownScopeOf(member), id))!
}
