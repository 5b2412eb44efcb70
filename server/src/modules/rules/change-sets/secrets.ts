import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { originOf, type Place } from '../../../lib/secrets.ts'
import type { Change } from './governed-actions.ts'

/** The fields of changes that hold a secret. */
const secretFields = ['walletServiceSecret', 'walletWebhookSecret'] as const

type Sealer = Deps['sealer']
/** The secrets by their place in the changes, each with its fingerprint and the origin of its wallet service. */
type Secrets = Record<string, { secret: string; fingerprint: string; origin: string }>
/** The changes of a change set as they are stored. The secrets are sealed for this change set alone. */
export type HiddenChanges = { id: string; changes: Change[]; secrets: Buffer | null }

const placeOf = (vaultId: string, id: string): Place => ({
  table: 'change_sets',
  column: 'secrets',
  row: [vaultId, id],
})

/**
 * Replaces the secrets in changes by fingerprints, so that requests, audit records and reviewers never see a secret. A
 * fingerprint cannot be computed without the key of the service. Votes are bound to the fingerprints.
 * @throws 400 for a secret that is no text, which could pass for a fingerprint
 */
export async function hideSecrets(
  trx: Trx,
  sealer: Sealer,
  vaultId: string,
  { id, changes }: { id: string; changes: Change[] },
): Promise<HiddenChanges> {
  const secrets: Secrets = {}
  const presentUrl = await findWalletUrl(trx, vaultId)
  const hidden = replaceSecrets(changes, (secret, at) => {
    if (typeof secret !== 'string') {
      const [i, field] = at.split('.')
      throw badRequest(`changes.${i}.payload.${field}`, 'must be a text')
    }
    const fingerprint = fingerprintOf(sealer, secret)
    secrets[at] = { secret, fingerprint, origin: destinationAt(changes, at, presentUrl) }
    return { fingerprint }
  })
  const isNone = Object.keys(secrets).length === 0
  return { id, changes: hidden, secrets: isNone ? null : sealer.seal(placeOf(vaultId, id), JSON.stringify(secrets)) }
}

/** Returns the changes with each secret or fingerprint replaced; `at` is its place. */
function replaceSecrets(changes: Change[], replace: (value: unknown, at: string) => unknown): Change[] {
  return changes.map((change, i) => {
    const payload = { ...change.payload }
    for (const field of secretFields)
      if (payload[field] != null) payload[field] = replace(payload[field], `${i}.${field}`)
    return { ...change, payload }
  })
}

/** Returns the origin of the wallet service of a secret: the origin in its change, else the present origin. */
function destinationAt(changes: Change[], at: string, presentUrl: string): string {
  const { walletServiceUrl = presentUrl } = changes[Number.parseInt(at, 10)]!.payload as { walletServiceUrl?: string }
  return originOf(walletServiceUrl)
}

async function findWalletUrl(trx: Trx, vaultId: string): Promise<string> {
  const row = await trx.selectFrom('vaults').select('wallet_service_url').where('id', '=', vaultId).executeTakeFirst()
  return row?.wallet_service_url ?? ''
}

/**
 * Restores the secrets, so that the changes can be applied.
 * @throws 409 when a secret would go to a wallet service of another origin; an error when a secret is not the one that was voted on
 */
export async function revealSecrets(
  trx: Trx,
  sealer: Sealer,
  vaultId: string,
  { id, changes, secrets: sealed }: HiddenChanges,
): Promise<Change[]> {
  const presentUrl = await findWalletUrl(trx, vaultId)
  const secrets = (sealed === null ? {} : JSON.parse(sealer.open(placeOf(vaultId, id), sealed))) as Secrets
  return replaceSecrets(changes, (shown, at) => {
    const kept = secrets[at]
    // The fingerprint is sealed with its secret, so it does not depend on a key that a rotation may have changed.
    if (kept === undefined || (shown as { fingerprint?: string }).fingerprint !== kept.fingerprint) {
      throw new Error('A secret of a change set is not the one that was asked for')
    }
    if (kept.origin !== destinationAt(changes, at, presentUrl)) {
      throw conflict('differs_from_record', 'A secret of the change set was given for another wallet service')
    }
    return kept.secret
  })
}

/** SQL: the changes and the wallet service of a change set `t`, which give the origins of secrets that were sealed without one. */
export const destinationOfSecrets = `select json_build_object('changes', t.changes, 'url', v.wallet_service_url)
  from vaults v where v.id = t.vault_id`

/**
 * Adds the fingerprints (sealed with the secrets since 0053) and the origins (since 0071) to the secrets of change sets that
 * still wait.
 */
export function completeSecrets(sealer: Sealer, plain: string, context: string): string {
  const { changes, url } = JSON.parse(context) as { changes: Change[]; url: string }
  const secrets = JSON.parse(plain) as Record<string, string | Partial<Secrets[string]>>
  const complete = Object.entries(secrets).map(([at, kept]) => {
    const known = typeof kept === 'string' ? { secret: kept, fingerprint: fingerprintOf(sealer, kept) } : kept
    return [at, { ...known, origin: known.origin ?? destinationAt(changes, at, url) }]
  })
  return JSON.stringify(Object.fromEntries(complete))
}

const fingerprintOf = (sealer: Sealer, secret: string): string =>
  sealer.mac('change set', secret).toString('hex').slice(0, 16)
