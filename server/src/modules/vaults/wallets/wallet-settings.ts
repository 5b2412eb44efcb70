import type { Config } from '../../../config/config.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badGateway, badRequest, type FieldFault } from '../../../lib/errors.ts'
import { faultOfWebhookSecrets } from '../../../lib/secret-strength.ts'
import { markOf, originOf, type Place, SealError, splitList } from '../../../lib/secrets.ts'
import { replay } from '../../record/audit/queries.ts'
import { dispatcherOf } from '../../registry/wallet-service/call.ts'
import { createWalletClient, type WalletClient } from '../../registry/wallet-service/client.ts'
import type { HaltReason } from './wallet-marks.ts'

type WalletSettings = { walletServiceUrl?: string | undefined; walletWebhookSecret?: string | null | undefined }

/** Returns the faults of the URL and the webhook secret of a wallet service. `prefix` is the path of the two fields. */
export function faultsOfWallet(
  { walletServiceUrl, walletWebhookSecret }: WalletSettings,
  { acceptsWeakSecrets }: Pick<Config, 'acceptsWeakSecrets'>,
  prefix: string,
): FieldFault[] {
  const urlFault = walletServiceUrl === undefined ? null : faultOfWalletUrl(walletServiceUrl)
  const faults = urlFault === null ? [] : [{ field: `${prefix}walletServiceUrl`, message: urlFault }]
  if (walletWebhookSecret != null) {
    const secrets = splitList(walletWebhookSecret)
    // A list of only commas counts as one empty secret.
    const listed = secrets.length === 0 ? [''] : secrets
    const message = faultOfWebhookSecrets(listed, { mayBeGuessed: acceptsWeakSecrets })
    if (message !== null) faults.push({ field: `${prefix}walletWebhookSecret`, message })
  }
  return faults
}

type SecretColumn = 'wallet_service_secret' | 'wallet_webhook_secret'

/** The vault and origin for which a secret is sealed. The secret cannot be opened for a row with another origin. */
type Home = { id: string; wallet_service_url: string }

const placeOf = ({ id, wallet_service_url }: Home, column: SecretColumn): Place => ({
  table: 'vaults',
  column,
  row: [id],
  destination: originOf(wallet_service_url),
})

/** Returns a secret of a vault as it is stored. Null stays null, and undefined, which changes nothing, stays undefined. */
export function sealed<None extends null | undefined>(
  sealer: Deps['sealer'],
  home: Home,
  column: SecretColumn,
  secret: string | None,
): Buffer | None {
  return typeof secret === 'string' ? sealer.seal(placeOf(home, column), secret) : secret
}

/** @throws SealError */
export function openSecret(sealer: Deps['sealer'], home: Home, column: SecretColumn, secret: Buffer): string {
  return sealer.open(placeOf(home, column), secret)
}

/**
 * Returns the stored webhook secret, sealed for a wallet service at another origin, with its mark. Returns undefined
 * when it is already sealed for that origin, because the row had been pointed elsewhere.
 * @throws 400 when it is sealed for neither origin
 */
export function redirected(sealer: Deps['sealer'], from: Home, to: Home, secret: Buffer): Buffer | undefined {
  const column = 'wallet_webhook_secret'
  const open = (home: Home) => orNull(() => openSecret(sealer, home, column, secret))
  if (open(to) !== null) return undefined
  const plain = open(from)
  if (plain !== null) return sealer.seal(placeOf(to, column), plain, markOf(secret))
  throw badRequest('walletWebhookSecret', 'is required (or null): the stored one is for another wallet service')
}

function orNull<Value>(open: () => Value): Value | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}

/**
 * Checks the base URL of a wallet service: http or https, no credentials, query or fragment. The connection checks its
 * resolved address, because a name may resolve differently then. Returns the fault or null.
 */
export function faultOfWalletUrl(text: string): string | null {
  if (!URL.canParse(text)) return 'must be a URL'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL'
  // A URL parser corrects its input, but the stored URL must be exactly the one that is called.
  if (!/^https?:\/\/[^/\\]/i.test(text) || /[\s\\]/.test(text)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials; use walletServiceSecret'
  if (text.includes('#')) return 'must have no fragment'
  if (text.includes('?')) return 'must have no query'
  return null
}

/** The URL of the wallet service of a vault, and its sealed secret. */
export type WalletOfVault = { id: string; wallet_service_url: string; wallet_service_secret: Buffer | null }

/** A wallet service with the key that the vault has pinned, with which it signs its answers about keys; null when none is pinned. */
export type PresentWallet = WalletOfVault & { wallet_key: string | null }

/**
 * Returns the client for the wallet service of a vault, with the connection guard of the settings.
 * @throws 502 when the secret is not for its URL
 */
export function walletOf(deps: Pick<Deps, 'config' | 'sealer'>, vault: WalletOfVault): WalletClient {
  const secret = vault.wallet_service_secret
  return createWalletClient({
    url: vault.wallet_service_url,
    secret: secret === null ? null : openForUrl(deps.sealer, vault, secret),
    dispatcher: dispatcherOf(deps.config),
  })
}

function openForUrl(sealer: Deps['sealer'], vault: WalletOfVault, secret: Buffer): string {
  try {
    return openSecret(sealer, vault, 'wallet_service_secret', secret)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw badGateway('The secret of the wallet service is not for its URL; nothing is sent to it', error)
  }
}

/** @throws 502 when the wallet service differs from the recorded one; an error when there is no such vault */
export async function walletOfVault(
  deps: Pick<Deps, 'config' | 'sealer'> & { db: Db },
  vaultId: string,
): Promise<WalletClient> {
  return (await openWallet(deps, vaultId)).client
}

/** Returns the wallet service of a vault with its client. @throws as `walletOfVault` */
export async function openWallet(
  deps: Pick<Deps, 'config' | 'sealer'> & { db: Db },
  vaultId: string,
): Promise<{ wallet: PresentWallet; client: WalletClient }> {
  const wallet = await confirmWallet(deps.db, () => findWallet(deps.db, vaultId))
  return { wallet, client: walletOf(deps, wallet) }
}

/** @throws an error when there is no such vault */
function findWallet(db: Db, vaultId: string): Promise<PresentWallet> {
  return selectWallet(db, vaultId).modifyEnd(prepared).executeTakeFirstOrThrow()
}

/**
 * Returns the wallet service of a vault and prevents its replacement until the transaction ends. Code that relies on the
 * present wallet service calls this first. A change of the wallet service waits for the transaction, and then sees its rows.
 */
export function keepWallet(
  trx: Trx,
  vaultId: string,
): Promise<PresentWallet & { protection: string; halt_reason: HaltReason | null }> {
  return selectWallet(trx, vaultId)
    .select(['protection', 'halt_reason'])
    .$narrowType<{ halt_reason: HaltReason | null }>()
    .forKeyShare()
    .modifyEnd(prepared)
    .executeTakeFirstOrThrow()
}

export function isSameWallet(wallet: WalletOfVault, other: WalletOfVault): boolean {
  const [secret, otherSecret] = [wallet.wallet_service_secret, other.wallet_service_secret]
  if (wallet.wallet_service_url !== other.wallet_service_url) return false
  return secret === null || otherSecret === null ? secret === otherSecret : secret.equals(otherSecret)
}

function selectWallet(db: Db | Trx, vaultId: string) {
  return db
    .selectFrom('vaults')
    .select(['id', 'wallet_service_url', 'wallet_service_secret', 'wallet_key'])
    .where('id', '=', vaultId)
}

/** Returns the mark of a secret as records hold it; null without a secret. */
export const markInRecord = (sealed: Buffer | null): string | null =>
  sealed === null ? null : markOf(sealed).toString('hex')

/** The URL of the wallet service of a vault, and the marks of its secrets, according to the newest records. */
type RecordedWallet = {
  isCreated: boolean
  walletServiceUrl?: unknown
  /** Undefined when records of an older version do not identify the secret. */
  walletServiceSecretMark?: unknown
  walletWebhookSecretMark?: unknown
  /** The faults of records that are not valid by themselves. */
  faults: string[]
}

export async function readRecordedWallet(db: Db | Trx, vaultId: string): Promise<RecordedWallet> {
  const recorded: RecordedWallet = { isCreated: false, faults: [] }
  for await (const { action, details, fault, id } of replay(db, vaultId, ['vault.created', 'vault.updated'])) {
    if (fault !== null) recorded.faults.push(`its audit record ${id}: ${fault}`)
    const { walletServiceUrl } = (action === 'vault.created' ? details : details.changes) as RecordedWallet
    Object.assign(recorded, walletServiceUrl === undefined ? {} : { walletServiceUrl }, marksOf(details))
    recorded.isCreated ||= action === 'vault.created'
  }
  return recorded
}

/** Returns the marks of a record. A change of a secret without a mark is of an older version: from then on the mark is not known. */
function marksOf(details: Record<string, unknown>): Partial<RecordedWallet> {
  return {
    ...(details.isWalletServiceSecretChanged === true || 'walletServiceSecretMark' in details
      ? { walletServiceSecretMark: details.walletServiceSecretMark }
      : {}),
    ...(details.isWalletWebhookSecretChanged === true || 'walletWebhookSecretMark' in details
      ? { walletWebhookSecretMark: details.walletWebhookSecretMark }
      : {}),
  }
}

type StoredWallet = {
  id: string
  wallet_service_url: string
  wallet_service_secret: Buffer | null
  wallet_webhook_secret?: Buffer | null
}

/** Names the difference between a row and its records. */
export function differencesOfWallet(stored: StoredWallet, recorded: RecordedWallet): string[] {
  if (!recorded.isCreated) return [...recorded.faults, 'no audit record creates it']
  const marks = [
    ['walletServiceSecretMark', stored.wallet_service_secret, 'the secret of its wallet service'],
    ['walletWebhookSecretMark', stored.wallet_webhook_secret, 'its webhook secret'],
  ] as const
  return [
    ...recorded.faults,
    ...(recorded.walletServiceUrl === stored.wallet_service_url
      ? []
      : ['its wallet service is not the one that was recorded']),
    ...marks.flatMap(([name, secret, words]) =>
      secret === undefined || recorded[name] === undefined || recorded[name] === markInRecord(secret)
        ? []
        : [`${words} is not the one that was recorded`],
    ),
  ]
}

/** The URL and sealed secret of each vault that this process has found to match the record. */
const confirmed = new WeakMap<Db, Map<string, string>>()

/**
 * Returns a wallet service that matches the record. The URL and secret of a vault are compared at their first use in
 * the process and after every change. A row that was restored with an old secret therefore gets nothing.
 * @throws 502 when it does not match the record
 */
export async function confirmWallet<Wallet extends StoredWallet>(db: Db, read: () => Promise<Wallet>): Promise<Wallet> {
  const ofProcess = confirmed.get(db) ?? new Map<string, string>()
  confirmed.set(db, ofProcess)
  let wallet = await read()
  for (;;) {
    const known = textOf(wallet)
    if (ofProcess.get(wallet.id) === known) return wallet
    const [difference] = differencesOfWallet(wallet, await readRecordedWallet(db, wallet.id))
    if (difference === undefined) {
      ofProcess.set(wallet.id, known)
      return wallet
    }
    // A change may have been committed between the two reads.
    wallet = await read()
    if (textOf(wallet) === known) throw notAsRecorded(difference)
  }
}

const textOf = ({ wallet_service_url: url, wallet_service_secret: secret }: StoredWallet): string =>
  JSON.stringify([url, secret?.toString('base64') ?? null])

export const notAsRecorded = (difference: string) =>
  badGateway(`The wallet service of the vault differs from the audit records: ${difference}. Nothing is sent to it`)
