import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { AnswerNeededError, askingOutside } from '../../../db/ask-outside.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type AccountKey, accountPathOf, addressBelow, isDerivable } from '../../../lib/account-key.ts'
import { badGateway, badRequest, unavailable } from '../../../lib/errors.ts'
import {
  accountKeysPinnedMax,
  probedAddressesMax,
  probedPrefixesMax,
  probesAtOnce,
  walletCallTimeoutMilliseconds,
} from '../../../lib/limits.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { isForbiddenWallet, isSilence, throwBadGateway } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { type Account, askAccountKeys, type ShownKeys, takeForNone } from './account-keys.ts'
import { type PresentWallet, type WalletOfVault, walletOf } from './wallet-settings.ts'

/** An address of the vault that the new wallet service must know too. */
type Sample = { network: string; type: NetworkType; coinType: number; derivationPath: string; addressKey: string }

/** A wallet service that may replace the present wallet service, and the addresses and accounts that it is asked for. */
export type Candidate = {
  wallet: WalletOfVault
  /** The state that must not change until the candidate is accepted: the present wallet service, its key, and the newest address. */
  replaces: PresentWallet & { newestAddressId: string | null }
  samples: Sample[]
  /** Addresses of unchecked networks. A network stays unchecked if one of its addresses does not follow from a shown key. */
  unchecked: Sample[]
  pinned: AccountKey[]
  /** The networks whose addresses are checked. */
  bound: string[]
  /** The first accounts of the vault on the other networks. */
  accounts: Account[]
}

/**
 * The result of a probe: the candidate, the first account or address that differs from the present wallet service, and the keys
 * to which the candidate is bound.
 */
export type Probed = { candidate: Candidate; difference: Account | null; shown: ShownKeys | null }

/** Thrown in the transaction of a change that must be probed first. It rolls the transaction back. */
export class ProbeNeededError extends AnswerNeededError<Candidate> {}

/**
 * Runs a change. If the change needs a probe of a wallet service, this asks the wallet service while no transaction is
 * open, and runs the change again.
 * @throws 502 or 503 when the wallet service does not answer or its answer is not valid
 */
export function withProbe<Result>(
  deps: Pick<Deps, 'config' | 'sealer'>,
  change: (probed: Probed | null) => Promise<Result>,
): Promise<Result> {
  return askingOutside(ProbeNeededError, change, async (candidate) => {
    const wallet = walletOf(deps, candidate.wallet)
    const ofKeys = await findKeyDifference(wallet, candidate)
    const difference = ofKeys.difference ?? (await findDifference(wallet, candidate.samples))
    return change({ candidate, difference, shown: difference === null ? ofKeys.shown : null })
  })
}

/**
 * Returns the first account whose key differs or is no longer shown, or the first address that does not follow from its
 * pinned key. A wallet service that shows the keys of a network is bound to them if the addresses of the network follow from
 * them; otherwise the network stays unchecked, so that a vault with such addresses still works.
 */
async function findKeyDifference(
  wallet: WalletClient,
  { replaces, samples, unchecked, pinned, bound, accounts }: Candidate,
): Promise<{ difference: Account | null; shown: ShownKeys | null }> {
  const derivable = [...samples, ...unchecked].filter(({ type }) => isDerivable(type))
  const byPath = new Map<string, Account>(pinned.slice(0, accountKeysPinnedMax).map((key) => [key.derivationPath, key]))
  for (const { network, type, derivationPath } of derivable) {
    const account = accountPathOf(derivationPath)
    if (account !== null) byPath.set(account, { network, type, derivationPath: account })
  }
  for (const account of accounts) byPath.set(account.derivationPath, account)
  const deadline = AbortSignal.timeout(walletCallTimeoutMilliseconds)
  const shown = await askAccountKeys(wallet, [...byPath.values()], deadline, (error, { network }) =>
    bound.includes(network) || isSilence(error) || isForbiddenWallet(error)
      ? throwProbeError(error)
      : takeForNone(error),
  )
  const keys = new Map(shown?.keys.map((key) => [key.derivationPath, key]))
  const missing = [...byPath.values()].find(
    ({ network, derivationPath }) => bound.includes(network) && !keys.has(derivationPath),
  )
  if (shown === null || missing !== undefined) return { difference: missing ?? null, shown: null }
  const isOtherService = shown.walletKey !== (replaces.wallet_key ?? shown.walletKey)
  const other = isOtherService
    ? shown.keys[0]
    : pinned.find(({ derivationPath, xpub }) => (keys.get(derivationPath)?.xpub ?? xpub) !== xpub)
  const foreign = derivable.filter(({ derivationPath, addressKey }) => {
    const key = keys.get(accountPathOf(derivationPath) ?? '')
    return key !== undefined && addressBelow(key, derivationPath) !== addressKey
  })
  const difference = other ?? foreign.find(({ network }) => bound.includes(network)) ?? null
  const kept = shown.keys.filter((key) => !foreign.some(({ network }) => network === key.network))
  return { difference, shown: kept.length === 0 ? null : { walletKey: shown.walletKey, keys: kept } }
}

function throwProbeError(error: unknown): never {
  if (isForbiddenWallet(error)) {
    throw badRequest('walletServiceUrl', 'must lead to a public address, or to one that WALLET_ALLOWED_HOSTS lists')
  }
  if (isSilence(error)) throw unavailable('wallet_service_silent', 'The new wallet service does not answer', 5)
  throwBadGateway(error)
}

/**
 * Returns the first sample for which the wallet service has another address. It asks for a few samples at once, and for all
 * within one time limit.
 */
async function findDifference(wallet: WalletClient, samples: Sample[]): Promise<Account | null> {
  const deadline = AbortSignal.timeout(walletCallTimeoutMilliseconds)
  const left = [...samples]
  let difference: Account | null = null
  const askInTurn = async () => {
    for (let sample = left.shift(); sample !== undefined && difference === null; sample = left.shift()) {
      if (!(await isSame(wallet, sample, deadline))) difference = sample
    }
  }
  await Promise.all(Array.from({ length: probesAtOnce }, askInTurn))
  return difference
}

async function isSame(wallet: WalletClient, sample: Sample, deadline: AbortSignal): Promise<boolean> {
  const { network, type, coinType, derivationPath, addressKey } = sample
  const { address } = await wallet.createAddress({ network, coinType, derivationPath }, deadline).catch(throwProbeError)
  const onchain = parseOnchainAddress(address, type)
  if (onchain === null) throw badGateway('The wallet service returned an invalid answer')
  return onchain.key === addressKey
}

/** Returns the id of the newest address of a vault; null when the vault has no address. */
export async function findNewestAddressId(db: Db | Trx, vaultId: string): Promise<string | null> {
  const row = await db
    .selectFrom('addresses')
    .select('id')
    .where('vault_id', '=', vaultId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

/**
 * Returns the first and the last address of a vault and random addresses. Under a prefix, the indexes between two floors of the vault
 * have no gaps, so a random number below the sum of these ranges selects a random address. Indexes of the database find it in a vault
 * of any size. In a vault with very many prefixes the choice is limited to the prefixes that follow a random prefix.
 */
export async function pickSamples(db: Db | Trx, vaultId: string): Promise<Sample[]> {
  let prefixes = await listPrefixes(db, vaultId, '')
  if (prefixes.length >= probedPrefixesMax) {
    prefixes = await listPrefixes(db, vaultId, await findRandomPrefix(db, vaultId))
  }
  const places = Array.from({ length: probedAddressesMax }, () => randomPlace(prefixes))
  const { rows } = await sql<Sample>`
    select n.slug as network, n.type, n.coin_type as "coinType", a.derivation_path as "derivationPath",
      a.address_key as "addressKey"
    from (
      (select id from addresses where vault_id = ${vaultId} order by created_at, id limit 1)
      union
      (select id from addresses where vault_id = ${vaultId} order by created_at desc, id desc limit 1)
      union
      select a.id
      from unnest(${places.map(({ prefix }) => prefix)}::text[], ${places.map(({ index }) => index)}::bigint[])
        as place(prefix, index)
      join addresses a on a.vault_id = ${vaultId} and a.static_prefix = place.prefix and a.path_index = place.index
    ) s
    join addresses a on a.vault_id = ${vaultId} and a.id = s.id
    join networks n on n.id = a.network_id
    order by a.created_at, a.id`.execute(db)
  return rows
}

/** Returns the first and the last address of each network whose addresses can follow from keys and are not checked yet. */
export async function pickUnchecked(db: Db | Trx, vaultId: string): Promise<Sample[]> {
  const edge = (order: 'asc' | 'desc') => sql`(
    select a.derivation_path, a.address_key from addresses a
    where a.vault_id = vn.vault_id and a.network_id = vn.network_id order by a.derivation_path ${sql.raw(order)} limit 1)`
  const { rows } = await sql<Sample>`
    select n.slug as network, n.type, n.coin_type as "coinType", a.derivation_path as "derivationPath",
      a.address_key as "addressKey"
    from vault_networks vn join networks n on n.id = vn.network_id
    cross join lateral (${edge('asc')} union ${edge('desc')}) a
    where vn.vault_id = ${vaultId} and vn.address_check = 'none'
    order by vn.position, a.derivation_path`.execute(db)
  return rows.filter(({ type }) => isDerivable(type))
}

type Prefix = { prefix: string; start: number; size: number }

/** Returns the prefixes of derivation paths from `from` on, with the ranges of indexes between the floors that have addresses. */
async function listPrefixes(db: Db | Trx, vaultId: string, from: string): Promise<Prefix[]> {
  const { rows } = await sql<Prefix>`
    with recursive prefixes as (
      (select a.static_prefix from addresses a where a.vault_id = ${vaultId} and a.static_prefix >= ${from}
        order by a.static_prefix limit 1)
      union all
      select following.static_prefix from prefixes p cross join lateral (
        select a.static_prefix from addresses a where a.vault_id = ${vaultId} and a.static_prefix > p.static_prefix
        order by a.static_prefix limit 1) following
    )
    select p.static_prefix as prefix, f.start::float8, (last.path_index - f.start + 1)::float8 as size
    from (select static_prefix from prefixes limit ${probedPrefixesMax}) p
    cross join (
      select start, lead(start) over (order by start) as "end" from (
        select 0::bigint as start union all select unnest(index_floors) from wallet_marks where vault_id = ${vaultId}) s
    ) f
    cross join lateral (
      select a.path_index from addresses a where a.vault_id = ${vaultId} and a.static_prefix = p.static_prefix
        and a.path_index >= f.start and (f."end" is null or a.path_index < f."end")
      order by a.path_index desc limit 1) last`.execute(db)
  return rows
}

/** Returns the prefix of the first address after a random instant in the life of the vault. */
async function findRandomPrefix(db: Db | Trx, vaultId: string): Promise<string> {
  const ofVault = sql`from addresses where vault_id = ${vaultId} order by created_at`
  const { rows } = await sql<{ prefix: string }>`
    select near.static_prefix as prefix
    from (select (select created_at ${ofVault} limit 1) as first, (select created_at ${ofVault} desc limit 1) as last) life
    cross join lateral (
      select static_prefix from addresses
      where vault_id = ${vaultId} and created_at >= life.first + (life.last - life.first) * ${Math.random()}::float8
      order by created_at limit 1
    ) near`.execute(db)
  return rows[0]?.prefix ?? ''
}

function randomPlace(prefixes: Prefix[]): { prefix: string; index: number } {
  let place = randomInt(
    Math.max(
      1,
      prefixes.reduce((sum, { size }) => sum + size, 0),
    ),
  )
  for (const { prefix, start, size } of prefixes) {
    if (place < size) return { prefix, index: start + place }
    place -= size
  }
  return { prefix: '', index: 0 }
}
