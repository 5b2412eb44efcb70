/** What people write where a secret belongs; it adds nothing to one. */
const knownWords =
  /change[-_ ]?(me|this|it)|secret|passw(or|0r)d|passphrase|example|strongroom|default|placeholder|replace|insert|dummy|sample|test|demo|todo|your|key|token|webhook|wallet|admin|qwerty|letmein/gi

/**
 * Estimates how many bits of a secret an attacker has to guess. Characters count by the size of the alphabet that the
 * secret uses; words that stand in for a secret, repetitions and sequences such as 123 count nothing. It finds the
 * secrets that nobody drew at random, and says nothing about how good a random one is.
 */
export function estimateSecretBits(secret: string): number {
  // The key is what the base64 of a `whsec_` secret stands for.
  const plain = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64').toString('latin1') : secret
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
