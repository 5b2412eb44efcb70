import type { Static } from 'typebox'
import type { By } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { badGateway, badRequest, conflict, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { pathIndexMax } from '../../../lib/limits.ts'
import { type OnchainAddress, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { audit } from '../../record/audit/record.ts'
import type { NetworkRow } from '../../registry/networks/queries.ts'
import { findTokensOfNetworks } from '../../registry/tokens/queries.ts'
import { toBadGateway, WalletServiceError, walletOfVault } from '../../registry/wallet-service/client.ts'
import { findVault } from '../vaults/queries.ts'
import { type AddressPlan, planAddress } from './plan-address.ts'
import { type AddressRow, findNextIndex, lockOnchainAddress } from './queries.ts'
import type { AddressCreation } from './schema.ts'

type Creation = Static<typeof AddressCreation>

export type Placement = { network: NetworkRow; plan: AddressPlan }

/** The address from the wallet service for the next index of a placement. */
export type Derivation = { index: number; onchain: OnchainAddress }

/**
 * Finds the place of a new address in the vault's structure.
 * @throws 409 while the vault is a draft or a chosen route, variant or token is disabled, 400 for an unknown one
 */
export async function placeAddress(db: Db | Trx, vaultId: string, body: Creation): Promise<Placement> {
  const vault = (await findVault(db, vaultId))!
  if (vault.locked_at === null) throw conflict('The vault is a draft; lock it before creating addresses')
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
  if ('conflict' in outcome) throw conflict(outcome.conflict)
  return { network, plan: outcome.plan }
}

/**
 * Requests the next address under the prefix from the wallet service, without an open transaction.
 * @throws 409 when the prefix is used up, 502 when the wallet service fails or returns an invalid address
 */
export async function deriveAddress(
  deps: Deps,
  vaultId: string,
  { network, plan }: Placement,
  deadline: AbortSignal,
): Promise<Derivation> {
  const index = await findNextIndex(deps.db, vaultId, plan.staticPrefix)
  if (!plan.hasIndex && index > 0)
    throw conflict('This combination of segments has an address already, and it has no dynamic segment')
  if (index > pathIndexMax) throw conflict('All indexes of this combination of segments are in use')
  const wallet = await walletOfVault(deps, vaultId)
  const order = { network: network.slug, coinType: network.coin_type, derivationPath: plan.pathAt(index) }
  const { address } = await wallet.createAddress(order, deadline).catch((error: unknown) => {
    throw error instanceof WalletServiceError ? toBadGateway(error) : error
  })
  const onchain = parseOnchainAddress(address, network.type)
  if (onchain === null) throw badGateway('The wallet service returned an invalid answer')
  return { index, onchain }
}

/** Thrown when another node took the index between the read and the insert. */
export class IndexTakenError extends Error {}

/**
 * Stores the address, whose owner is the actor, and credits the events that arrived before it; returns its id.
 * @throws IndexTakenError, or 502 when the on-chain address already exists
 */
export async function insertAddress(
  trx: Trx,
  body: Creation,
  { network, plan }: Placement,
  { index, onchain }: Derivation,
  by: By,
  onAddressCreated: (trx: Trx, address: AddressRow) => Promise<void>,
): Promise<string> {
  const { vaultId, actorId, now } = by
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
      if (isIndexTaken) throw new IndexTakenError()
      if (violates(error, 'addresses_on_chain')) {
        throw badGateway('The wallet service returned the address of another derivation path')
      }
      throw error
    })
  await onAddressCreated(trx, row)
  const { address, derivation_path: derivationPath } = row
  const details = { network: network.slug, address, derivationPath, token: plan.token?.code ?? null }
  await audit(trx, by, 'address.created', { type: 'address', id: row.id }, details)
  return row.id
}
