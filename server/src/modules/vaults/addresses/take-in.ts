import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { walletCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { parseDerivationPath } from '../structure/derivation.ts'
import { findVault } from '../structure/queries.ts'
import { assertFollows, findUsedKey } from '../wallets/check-address.ts'
import { openWallet } from '../wallets/wallet-settings.ts'
import { insertAddress, placeAddress } from './actions.ts'
import type { AddressRow } from './queries.ts'

type Lost = { network: string; derivationPath: string; address: string }
type TakingIn = Pick<Deps, 'config' | 'sealer' | 'log' | 'clock'> & { db: Db }
type For = {
  vaultId: string
  /** The member who owns the address from now on. */
  ownerId: string
  operator: string
  onAddressCreated: (trx: Trx, address: AddressRow) => Promise<void>
}

/**
 * Stores an address that the wallet service made and the books have lost, under its path, for a member of the vault.
 * @throws when the path is not of the vault, or the wallet service answers with another address
 */
export async function takeAddressIn(
  deps: TakingIn,
  { network: slug, derivationPath, address: listed }: Lost,
  { vaultId, ownerId, operator, onAddressCreated }: For,
): Promise<void> {
  const vault = (await findVault(deps.db, vaultId))!
  const parsed = parseDerivationPath(derivationPath, {
    networks: vault.networks.filter((network) => network.slug === slug).map((network) => toCoin(network)),
    routes: vault.routes.map((route) => ({ ...route, variants: route.variants.map(toVariant) })),
  })
  if ('fault' in parsed) throw new Error(parsed.fault)
  const codes = parsed.segments.flatMap(({ route, variant }) => (variant === null ? [] : [[route.code, variant.code]]))
  const body = { network: slug, segments: Object.fromEntries(codes) as Record<string, string>, label: 'Recovered' }
  const placement = await placeAddress(deps.db, vaultId, body)
  const index = parsed.segments.find(({ route }) => route.dynamic)?.pathId ?? 0
  const { wallet, client } = await openWallet(deps, vaultId)
  const { coin_type: coinType, type, address_check: addressCheck } = placement.network
  const deadline = AbortSignal.timeout(walletCallTimeoutMilliseconds)
  const order = { network: slug, coinType, derivationPath }
  const used = await findUsedKey(deps, wallet, client, { ...order, type, addressCheck }, deadline)
  const { address } = await client.createAddress(order, deadline)
  const onchain = parseOnchainAddress(address, type)
  if (onchain === null || onchain.key !== keyOf(listed, type))
    throw new Error('the wallet service answers another address')
  if (used !== null) assertFollows(deps, used, vaultId, onchain, derivationPath)
  await inTransaction(deps.db, async (trx) => {
    const by = { vaultId, actorId: ownerId, now: deps.clock() }
    const derivation = { index, onchain, wallet, used, recoveredBy: operator }
    await insertAddress(trx, body, placement, derivation, by, onAddressCreated)
  })
}

const toCoin = ({ coin_type: coinType }: { coin_type: number }) => ({ coinType })
const toVariant = ({ path_id: pathId, code }: { path_id: string; code: string }) => ({ pathId: Number(pathId), code })
const keyOf = (address: string, type: NetworkType) => parseOnchainAddress(address, type)?.key
