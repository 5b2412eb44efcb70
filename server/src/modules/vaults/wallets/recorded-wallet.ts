import type { Db, Trx } from '../../../db/client.ts'
import { badGateway } from '../../../lib/errors.ts'
import { markOf } from '../../../lib/secrets.ts'
import { replay } from '../../record/audit/queries.ts'

/** The mark of a secret as records hold it; null: there is no secret. */
export const markInRecord = (sealed: Buffer | null): string | null =>
  sealed === null ? null : markOf(sealed).toString('hex')

/** Where the wallet service of a vault is, and the marks of its secrets, as the newest records have it. */
export type RecordedWallet = {
  isCreated: boolean
  walletServiceUrl?: unknown
  /** undefined: records of an older version do not tell which secret it was. */
  walletServiceSecretMark?: unknown
  walletWebhookSecretMark?: unknown
  /** Records that do not hold by themselves. */
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

/** A change of a secret that names no mark is of an older version: from then on the mark is not known. */
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

export type StoredWallet = {
  id: string
  wallet_service_url: string
  wallet_service_secret: Buffer | null
  wallet_webhook_secret?: Buffer | null
}

/** How a row differs from its records. */
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

/** What was found to be as recorded by this process: the URL and sealed secret of each vault. */
const confirmed = new WeakMap<Db, Map<string, string>>()

/**
 * A wallet service that is as it was recorded. Each URL and secret is compared once in the life of the process, and each that
 * differs from the one before: a row that was brought back, with the secret of that day, is handed nothing.
 * @throws 502 when it is not as recorded
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
  badGateway(`The wallet service of the vault is not what was recorded: ${difference}. Nothing is sent to it`)
