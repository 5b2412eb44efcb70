import type { Deps } from '../../../deps.ts'
import type { Place } from '../../../lib/secrets.ts'
import type { Change } from './actions.ts'

/** The fields of changes that hold a secret. */
const secretFields = ['walletServiceSecret', 'walletWebhookSecret'] as const

type Sealer = Deps['sealer']
/** Each secret with the fingerprint that is shown for it, by its place in the changes. */
type Secrets = Record<string, { secret: string; fingerprint: string }>
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
export function hideSecrets(
  sealer: Sealer,
  vaultId: string,
  { id, changes }: { id: string; changes: Change[] },
): HiddenChanges {
  const secrets: Secrets = {}
  const hidden = replaceSecrets(changes, (secret, at) => {
    if (typeof secret !== 'string') return secret
    const fingerprint = fingerprintOf(sealer, secret)
    secrets[at] = { secret, fingerprint }
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

/** Puts the secrets back for the changes to be applied. @throws when one is not the one that was voted on */
export function revealSecrets(
  sealer: Sealer,
  vaultId: string,
  { id, changes, secrets: sealed }: HiddenChanges,
): Change[] {
  const secrets = (sealed === null ? {} : JSON.parse(sealer.open(placeOf(vaultId, id), sealed))) as Secrets
  return replaceSecrets(changes, (shown, at) => {
    const kept = secrets[at]
    // The fingerprint is sealed with its secret, so it needs no key that a rotation would have changed meanwhile.
    if (kept === undefined || (shown as { fingerprint?: string }).fingerprint !== kept.fingerprint) {
      throw new Error('A secret of a change set is not the one that was asked for')
    }
    return kept.secret
  })
}

/** Before 0053 the fingerprints were not sealed with the secrets; they are computed for what waits since then. */
export function withFingerprints(sealer: Sealer, plain: string): string {
  const secrets = JSON.parse(plain) as Record<string, string | Secrets[string]>
  const complete = Object.entries(secrets).map(([at, kept]) => [
    at,
    typeof kept === 'string' ? { secret: kept, fingerprint: fingerprintOf(sealer, kept) } : kept,
  ])
  return JSON.stringify(Object.fromEntries(complete))
}

const fingerprintOf = (sealer: Sealer, secret: string): string =>
  sealer.mac('change set', secret).toString('hex').slice(0, 16)
