import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import { originOf, type Place } from '../../../lib/secrets.ts'
import type { Change } from './governed-actions.ts'

/** The fields of changes that hold a secret. */
const secretFields = ['walletServiceSecret', 'walletWebhookSecret'] as const

type Sealer = Deps['sealer']
/** Each secret with the fingerprint that is shown for it and the origin that it is for, by its place in the changes. */
type Secrets = Record<string, { secret: string; fingerprint: string; origin: string }>
/** The changes of a change set as they are stored. The secrets are sealed for it alone. */
export type HiddenChanges = { id: string; changes: Change[]; secrets: Buffer | null }

const placeOf = (vaultId: string, id: string): Place => ({
  table: 'change_sets',
  column: 'secrets',
  row: [vaultId, id],
})

/**
 * Takes the secrets out of changes, so that neither a request, nor an audit record, nor a reviewer ever sees one. In its place
 * stands a fingerprint that cannot be computed without the key of the service; votes are bound to it.
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
    if (typeof secret !== 'string') return secret
    const fingerprint = fingerprintOf(sealer, secret)
    secrets[at] = { secret, fingerprint, origin: destinationAt(changes, at, presentUrl) }
    return { fingerprint }
  })
  const isNone = Object.keys(secrets).length === 0
  return { id, changes: hidden, secrets: isNone ? null : sealer.seal(placeOf(vaultId, id), JSON.stringify(secrets)) }
}

/** The changes with each secret, or what is shown for it, replaced; `at` is its place. */
function replaceSecrets(changes: Change[], replace: (value: unknown, at: string) => unknown): Change[] {
  return changes.map((change, i) => {
    const payload = { ...change.payload }
    for (const field of secretFields)
      if (payload[field] != null) payload[field] = replace(payload[field], `${i}.${field}`)
    return { ...change, payload }
  })
}

/** The origin of the wallet service that a secret is for: the one that its change names, else the present one. */
function destinationAt(changes: Change[], at: string, presentUrl: string): string {
  const { walletServiceUrl = presentUrl } = changes[Number.parseInt(at, 10)]!.payload as { walletServiceUrl?: string }
  return originOf(walletServiceUrl)
}

async function findWalletUrl(trx: Trx, vaultId: string): Promise<string> {
  const row = await trx.selectFrom('vaults').select('wallet_service_url').where('id', '=', vaultId).executeTakeFirst()
  return row?.wallet_service_url ?? ''
}

/**
 * Puts the secrets back for the changes to be applied.
 * @throws 409 when one would go to another wallet service than it was given for; when one is not the one that was voted on
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
    // The fingerprint is sealed with its secret, so it needs no key that a rotation would have changed meanwhile.
    if (kept === undefined || (shown as { fingerprint?: string }).fingerprint !== kept.fingerprint) {
      throw new Error('A secret of a change set is not the one that was asked for')
    }
    if (kept.origin !== destinationAt(changes, at, presentUrl)) {
      throw conflict('differs_from_record', 'A secret of the change set was given for another wallet service')
    }
    return kept.secret
  })
}

/** SQL: what says where the secrets of a change set `t` go, for those that were sealed before they said it themselves. */
export const destinationOfSecrets = `select json_build_object('changes', t.changes, 'url', v.wallet_service_url)
  from vaults v where v.id = t.vault_id`

/**
 * Before 0053 the fingerprints were not sealed with the secrets, and before 0071 not what they are for; both are added to what
 * waits since then.
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
