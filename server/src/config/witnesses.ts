import { faultOfWebhookSecrets } from '../lib/secret-strength.ts'
import { parseWitness, type Witness } from '../lib/witness.ts'
import type { Reader } from './reader.ts'

export type WitnessSettings = { targets: Witness[]; secrets: string[]; everyHours: number }

/** Reads the witnesses of the seal chains, and the keys that may have signed seals before the key of this node. */
export function readWitnesses({ demo, faults, text, list, integer, refuseWeak }: Reader): {
  witnesses: WitnessSettings
  sealKeys: string[]
} {
  const targets: Witness[] = []
  for (const item of new Set(list('WITNESSES'))) {
    const witness = parseWitness(item, { demo })
    if (typeof witness === 'string') faults.push(`WITNESSES ${witness}`)
    else targets.push(witness)
  }
  const secrets = list('WITNESS_SECRET')
  const isPosted = targets.some(({ kind }) => kind === 'https')
  if (isPosted && secrets.length === 0) faults.push('WITNESS_SECRET is required with a witness that is a URL')
  if (secrets.length > 0 && !isPosted) faults.push('WITNESS_SECRET is set, and WITNESSES names no URL')
  const fault = faultOfWebhookSecrets(secrets, { mayBeGuessed: true })
  if (fault !== null) faults.push(`WITNESS_SECRET ${fault}`)
  else refuseWeak('WITNESS_SECRET', secrets)
  const others = [...list('WALLET_WEBHOOK_SECRET'), ...list('SCREENING_SECRET')]
  if (secrets.some((secret) => others.includes(secret))) {
    faults.push('WITNESS_SECRET must be another secret than WALLET_WEBHOOK_SECRET and SCREENING_SECRET')
  }

  const sealKeys = list('SEAL_KEYS')
  if (!sealKeys.every((id) => /^[0-9a-f]{32}$/.test(id))) {
    faults.push(`SEAL_KEYS must be ids of keys, 32 digits and letters from a to f each, not "${text('SEAL_KEYS')}"`)
  }
  return { witnesses: { targets, secrets, everyHours: integer('WITNESS_EVERY_HOURS', 1, 1, 168) }, sealKeys }
}
