import { secretBitsMin, webhookSecretBytesMin } from './limits.ts'
import { webhookKeyOf } from './secrets.ts'

/** The placeholders that people write instead of a secret. They add no strength. */
const knownWords = new RegExp(
  'change[-_ ]?(me|this|it)|secret|passw(or|0r)d|passphrase|example|strongroom|default|placeholder|replace|insert|' +
    'dummy|sample|test|demo|todo|your|key|token|webhook|wallet|admin|qwerty|letmein',
  'gi',
)

/**
 * Estimates how many bits of a secret an attacker has to guess. Characters count by the size of the alphabet that the secret
 * uses. Placeholders, repetitions and sequences such as 123 count nothing. It finds secrets that were not generated at random;
 * it does not measure the quality of a random secret.
 */
export function estimateSecretBits(secret: string): number {
  const plain = secret.startsWith('whsec_') ? webhookKeyOf(secret).toString('latin1') : secret
  const text = plain.replace(knownWords, '')
  const codes = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
  const characters = codes.filter((code, i) => {
    const isRepeated = i + 3 <= text.length && text.indexOf(text.slice(i, i + 3)) < i
    const step = i < 2 ? null : code - codes[i - 1]!
    const continues = step !== null && Math.abs(step) <= 1 && codes[i - 1]! - codes[i - 2]! === step
    return !isRepeated && !continues
  })
  return characters.length * Math.log2(Math.max(1, new Set(codes).size))
}

/** The fault of a secret that `canBeGuessed`. It follows the name of the setting. */
export const guessable = 'can be guessed: generate it at random, for example with "openssl rand -base64 32"'

export function canBeGuessed(secret: string): boolean {
  return estimateSecretBits(secret) < secretBitsMin
}

/** Returns the fault of a list of webhook secrets, which follows the name of the setting, or null. */
export function faultOfWebhookSecrets(secrets: string[], { mayBeGuessed }: { mayBeGuessed: boolean }): string | null {
  if (secrets.some((secret) => webhookKeyOf(secret).length < webhookSecretBytesMin)) {
    return `must have at least ${webhookSecretBytesMin} bytes (each, when it lists several)`
  }
  return !mayBeGuessed && secrets.some(canBeGuessed) ? guessable : null
}
