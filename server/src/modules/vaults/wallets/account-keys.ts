import { randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../../db/client.ts'
import { type AccountKey, faultOfAccountKey } from '../../../lib/account-key.ts'
import { badGateway } from '../../../lib/errors.ts'
import { accountKeysPinnedMax } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { throwBadGateway, WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import type { VaultWithStructure } from '../structure/queries.ts'

export type Account = { network: string; derivationPath: string }

/** The keys of accounts, and the key of the wallet service that signed them. */
export type ShownKeys = { walletKey: string; keys: AccountKey[] }

/**
 * Asks a wallet service for the key of an account, and checks that it signed the answer for this question.
 * @returns null when the wallet service does not offer keys
 * @throws WalletServiceError, 502 for an answer whose signature or key is wrong
 */
export async function askAccountKey(
  wallet: WalletClient,
  { network, derivationPath }: Account,
  deadline?: AbortSignal,
): Promise<{ walletKey: string; key: AccountKey } | null> {
  const challenge = randomBytes(32).toString('base64url')
  const shown = await wallet.getAccountKey({ network, derivationPath, challenge }, deadline)
  if (shown === null) return null
  const key = { network, derivationPath, xpub: shown.xpub, challenge, signature: shown.signature }
  const fault = faultOfAccountKey(key, shown.key)
  if (fault !== null) throw badGateway(`The wallet service showed a wrong key of ${derivationPath}: ${fault}`)
  return { walletKey: shown.key, key }
}

/**
 * Asks for the keys of all these accounts, by which the wallet service binds itself.
 * @param onFirst handles a failure of the first question: it throws an error, or returns null as if no keys were offered
 * @returns null when the wallet service does not offer keys or there are no accounts
 * @throws 502 when it offers keys and one is wrong
 */
export async function askAccountKeys(
  wallet: WalletClient,
  accounts: Account[],
  deadline: AbortSignal,
  onFirst: (error: unknown) => null = takeForNone,
): Promise<ShownKeys | null> {
  const [first, ...others] = accounts
  if (first === undefined) return null
  const shown = await askAccountKey(wallet, first, deadline).catch(onFirst)
  if (shown === null) return null
  const rest = await Promise.all(
    others.map((account) => askAccountKey(wallet, account, deadline).catch(throwBadGateway)),
  )
  const keys = [shown.key]
  for (const [index, answer] of rest.entries()) {
    if (answer?.walletKey !== shown.walletKey) throw keyMissing(others[index]!.derivationPath)
    keys.push(answer.key)
  }
  return { walletKey: shown.walletKey, keys }
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
 * Returns the accounts that a vault with this structure has from the beginning, at most as many as are pinned when it is
 * locked. Only addresses of EVM networks follow from a key in one way. Where the index is the account, the question only finds
 * out how the wallet service signs.
 */
export function accountsOf({ networks, routes }: Pick<VaultWithStructure, 'networks' | 'routes'>): Account[] {
  const [first] = routes
  if (first === undefined) return []
  const numbers = first.dynamic ? [0] : first.variants.map(({ path_id }) => Number(path_id))
  return networks
    .filter(({ type }) => type === 'evm')
    .flatMap(({ slug, coin_type }) =>
      numbers.map((number) => ({ network: slug, derivationPath: `m/44/${coin_type}/${number}` })),
    )
    .slice(0, accountKeysPinnedMax)
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
    .select(['n.slug as network', 'k.derivation_path as derivationPath', 'k.xpub', 'k.challenge', 'k.signature'])
    .where('k.vault_id', '=', vaultId)
}

/**
 * Stores the shown keys of accounts. Keys that the vault already has stay.
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
      keys.map(({ network, derivationPath, xpub, challenge, signature }) => ({
        vault_id: vaultId,
        derivation_path: derivationPath,
        network_id: networks.find(({ slug }) => slug === network)!.id,
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
