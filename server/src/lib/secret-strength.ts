import { secretBitsMin, webhookSecretBytesMin } from './limits.ts'
import { webhookKeyOf } from './secrets.ts'

/** What people write where a secret belongs; it adds nothing to one. */
const knownWords =
  /change[-_ ]?(me|this|it)|secret|passw(or|0r)d|passphrase|example|strongroom|default|placeholder|replace|insert|dummy|sample|test|demo|todo|your|key|token|webhook|wallet|admin|qwerty|letmein/gi

/**
 * Estimates how many bits of a secret an attacker has to guess. Characters count by the size of the alphabet that the
 * secret uses; words that stand in for a secret, repetitions and sequences such as 123 count nothing. It finds the
 * secrets that nobody drew at random, and says nothing about how good a random one is.
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

/** What is said of a secret that `canBeGuessed`, behind its name. */
export const guessable = 'can be guessed: draw it at random, as "openssl rand -base64 32" does'

export function canBeGuessed(secret: string): boolean {
  return estimateSecretBits(secret) < secretBitsMin
}

/** What is wrong with a list of webhook secrets, behind its name; null: nothing. */
export function faultOfWebhookSecrets(secrets: string[], { mayBeGuessed }: { mayBeGuessed: boolean }): string | null {
  if (secrets.some((secret) => webhookKeyOf(secret).length < webhookSecretBytesMin)) {
    return `must have at least ${webhookSecretBytesMin} bytes (each, when it lists several)`
  }
  return !mayBeGuessed && secrets.some(canBeGuessed) ? guessable : null
}
