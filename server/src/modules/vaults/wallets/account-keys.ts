import { randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../../db/client.ts'
import { type AccountKey, faultOfAccountKey, isDerivable, isKnownScript } from '../../../lib/account-key.ts'
import { badGateway } from '../../../lib/errors.ts'
import { accountKeysPinnedMax } from '../../../lib/limits.ts'
import type { NetworkType } from '../../../lib/onchain-address.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { isSilence, throwBadGateway, WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import type { VaultWithStructure } from '../structure/queries.ts'

export type Account = { network: string; type: NetworkType; derivationPath: string }

/** The keys of accounts, and the key of the wallet service that signed them. */
export type ShownKeys = { walletKey: string; keys: AccountKey[] }

/**
 * Asks a wallet service for the key of an account, and checks that it signed the answer for this question.
 * @returns null when the wallet service does not offer keys, or addresses of the network do not follow from them in a known way
 * @throws WalletServiceError, 502 for an answer whose signature or key is wrong
 */
export async function askAccountKey(
  wallet: WalletClient,
  { network, type, derivationPath }: Account,
  deadline?: AbortSignal,
): Promise<{ walletKey: string; key: AccountKey } | null> {
  const challenge = randomBytes(32).toString('base64url')
  const shown = await wallet.getAccountKey({ network, derivationPath, challenge }, deadline)
  if (shown === null) return null
  const { xpub, signature, script = null } = shown
  if (!isKnownScript(type, script)) return null
  const key = { network, type, derivationPath, script, xpub, challenge, signature }
  const fault = faultOfAccountKey(key, shown.key)
  if (fault !== null) throw badGateway(`The wallet service showed a wrong key of ${derivationPath}: ${fault}`)
  return { walletKey: shown.key, key }
}

type FirstAnswer = { shown: Awaited<ReturnType<typeof askAccountKey>>; failure: unknown }

/**
 * Asks for the keys of all these accounts, by which the wallet service binds itself. It may offer the keys of some networks only.
 * @param onFirst handles a failure of the first question about a network: it throws an error, or returns null as if no keys were
 *   offered
 * @returns the keys of the networks that it offers; null when it offers none or there are no accounts
 * @throws 502 when it offers keys and one is wrong, or it is silent about another network
 */
export async function askAccountKeys(
  wallet: WalletClient,
  accounts: Account[],
  deadline: AbortSignal,
  onFirst: (error: unknown, account: Account) => null = takeForNone,
): Promise<ShownKeys | null> {
  const askFirst = async (account: Account): Promise<FirstAnswer> => {
    try {
      return { shown: await askAccountKey(wallet, account, deadline), failure: null }
    } catch (failure) {
      return { shown: onFirst(failure, account), failure }
    }
  }
  const isFirst = ({ network }: Account, at: number) => accounts.findIndex((other) => other.network === network) === at
  const first = accounts.filter(isFirst)
  const answers = await Promise.all(first.map(askFirst))
  const keys = answers.flatMap(({ shown }) => shown?.key ?? [])
  const walletKey = answers.find(({ shown }) => shown !== null)?.shown?.walletKey
  if (walletKey === undefined) return null
  // The silence of a wallet service that shows keys says nothing about another network.
  const silent = answers.find(({ failure }) => isSilence(failure))
  if (silent !== undefined) throwBadGateway(silent.failure)
  const signedByOther = answers.find(({ shown }) => shown !== null && shown.walletKey !== walletKey)
  if (signedByOther?.shown) throw keyMissing(signedByOther.shown.key.derivationPath)
  const offered = new Set(keys.map(({ network }) => network))
  const others = accounts.filter((account, at) => offered.has(account.network) && !isFirst(account, at))
  const rest = await Promise.all(
    others.map((account) => askAccountKey(wallet, account, deadline).catch(throwBadGateway)),
  )
  for (const [index, answer] of rest.entries()) {
    if (answer?.walletKey !== walletKey) throw keyMissing(others[index]!.derivationPath)
    keys.push(answer.key)
  }
  return { walletKey, keys }
}

/**
 * Handles the failure of a first question as if no keys were offered. A wallet service that does not know the operation
 * may answer anything. A wrongly signed answer is an error, because it offers a key.
 */
export function takeForNone(error: unknown): null {
  if (error instanceof WalletServiceError) return null
  throw error
}

/** Returns the error for a wallet service that is bound by a key but shows no key, or a key that another key signed. */
export const keyMissing = (derivationPath: string) =>
  badGateway(`The wallet service does not show the key of ${derivationPath}, signed as before`)

/**
 * Returns the accounts that a vault with this structure has from the beginning on networks whose addresses can follow from keys: the
 * first of each network, and at most as many as are pinned when it is locked. Where the index is the account, the question only
 * finds out how the wallet service signs.
 */
export function accountsOf({ networks, routes }: Pick<VaultWithStructure, 'networks' | 'routes'>): Account[] {
  const [route] = routes
  if (route === undefined) return []
  const numbers = route.dynamic ? [0] : route.variants.map(({ path_id }) => Number(path_id))
  const ofNetwork = (part: number[]) =>
    networks
      .filter(({ type }) => isDerivable(type))
      .flatMap(({ slug, type, coin_type }) =>
        part.map((number) => ({ network: slug, type, derivationPath: `m/44/${coin_type}/${number}` })),
      )
  const first = ofNetwork(numbers.slice(0, 1))
  return [...first, ...ofNetwork(numbers.slice(1)).slice(0, Math.max(0, accountKeysPinnedMax - first.length))]
}

export async function findAccountKey(
  db: Db | Trx,
  vaultId: string,
  derivationPath: string,
): Promise<AccountKey | null> {
  const row = await selectAccountKeys(db, vaultId).where('k.derivation_path', '=', derivationPath).executeTakeFirst()
  return row ?? null
}

export function listAccountKeys(db: Db | Trx, vaultId: string): Promise<AccountKey[]> {
  return selectAccountKeys(db, vaultId).orderBy('k.derivation_path').execute()
}

function selectAccountKeys(db: Db | Trx, vaultId: string) {
  return db
    .selectFrom('account_keys as k')
    .innerJoin('networks as n', 'n.id', 'k.network_id')
    .select([
      'n.slug as network',
      'n.type',
      'k.derivation_path as derivationPath',
      'k.script',
      'k.xpub',
      'k.challenge',
      'k.signature',
    ])
    .$narrowType<{ type: NetworkType }>()
    .where('k.vault_id', '=', vaultId)
}

/**
 * Stores the shown keys of accounts, which binds their networks. Keys that the vault already has stay.
 * @throws 502 when such a key differs from the shown one
 */
export async function pinAccountKeys(trx: Trx, vaultId: string, keys: AccountKey[], now: Date): Promise<AccountKey[]> {
  if (keys.length === 0) return []
  const networks = await trx
    .selectFrom('networks')
    .select(['id', 'slug'])
    .where('slug', 'in', [...new Set(keys.map(({ network }) => network))])
    .execute()
  const inserted = await trx
    .insertInto('account_keys')
    .values(
      keys.map(({ network, derivationPath, script, xpub, challenge, signature }) => ({
        vault_id: vaultId,
        derivation_path: derivationPath,
        network_id: networks.find(({ slug }) => slug === network)!.id,
        script,
        xpub,
        challenge,
        signature,
        created_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('derivation_path')
    .execute()
  const added = keys.filter((key) => inserted.some(({ derivation_path }) => derivation_path === key.derivationPath))
  if (added.length === keys.length) return added
  const present = new Map((await listAccountKeys(trx, vaultId)).map((key) => [key.derivationPath, key.xpub]))
  const differing = keys.find(({ derivationPath, xpub }) => present.get(derivationPath) !== xpub)
  if (differing !== undefined) throw badGateway(`The wallet service showed two keys of ${differing.derivationPath}`)
  return added
}

/**
 * Returns the details of pinned keys for the record, from which a replaced key can be detected later. Readers of the
 * record do not get the key itself, which with one private key below it would reveal the others.
 */
export const recordOfKeys = (keys: AccountKey[]) =>
  keys.map(({ network, derivationPath, xpub }) => ({ network, derivationPath, xpubHash: hashOfXpub(xpub) }))

export const hashOfXpub = (xpub: string) => sha256(xpub).toString('hex')
