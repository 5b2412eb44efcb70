import type { Deps } from '../../../deps.ts'
import { equalsSecret } from '../../../lib/secrets.ts'
import type { Change } from './actions.ts'

/** The fields of changes that hold a secret. */
const secretFields = ['walletServiceSecret', 'walletWebhookSecret'] as const

type Sealer = Deps['sealer']
type Secrets = Record<string, string>

/**
 * Takes the secrets out of changes, so that neither a request, nor an audit record, nor a reviewer ever sees one. In its place
 * stands a fingerprint that cannot be computed without the key of the service; votes are bound to it.
 */
export function hideSecrets(sealer: Sealer, changes: Change[]): { changes: Change[]; secrets: Buffer | null } {
  const secrets: Secrets = {}
  const hidden = changes.map((change, i) => {
    const payload = { ...change.payload }
    for (const field of secretFields) {
      const secret = payload[field]
      if (typeof secret !== 'string') continue
      secrets[`${i}.${field}`] = secret
      payload[field] = { fingerprint: fingerprintOf(sealer, secret) }
    }
    return { ...change, payload }
  })
  return { changes: hidden, secrets: Object.keys(secrets).length === 0 ? null : sealer.seal(JSON.stringify(secrets)) }
}

/** Puts the secrets back for the changes to be applied. @throws when one is not the one that was voted on */
export function revealSecrets(sealer: Sealer, changes: Change[], sealed: Buffer | null): Change[] {
  const secrets = (sealed === null ? {} : JSON.parse(sealer.open(sealed))) as Secrets
  return changes.map((change, i) => {
    const payload = { ...change.payload }
    for (const field of secretFields) {
      const shown = payload[field] as { fingerprint?: string } | string | null | undefined
      if (shown == null) continue
      const secret = secrets[`${i}.${field}`]
      const fingerprint = typeof shown === 'object' ? (shown.fingerprint ?? '') : ''
      if (secret === undefined || !equalsSecret(fingerprintOf(sealer, secret), fingerprint)) {
        throw new Error('A secret of a change set is not the one that was asked for')
      }
      payload[field] = secret
    }
    return { ...change, payload }
  })
}

const fingerprintOf = (sealer: Sealer, secret: string): string =>
  sealer.mac('change set', secret).toString('hex').slice(0, 16)
