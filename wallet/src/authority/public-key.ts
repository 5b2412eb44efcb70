import { createPublicKey, type KeyObject } from 'node:crypto'

/**
 * The prefixes of SPKI in DER for the two types of keys. Other prefixes are refused, because two spellings of a key would count
 * as two keys.
 */
const prefixes = {
  es256: Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex'),
  ed25519: Buffer.from('302a300506032b6570032100', 'hex'),
} as const
const lengths = { es256: 91, ed25519: 44 } as const

export type KeyAlgorithm = keyof typeof prefixes

type PublicKey = { algorithm: KeyAlgorithm; key: KeyObject }

/** Parsing a key takes twice as long as verifying with it. The keys of all authorities together are few. */
const known = new Map<string, PublicKey>()
const knownMax = 1_000

/** Returns the key of an SPKI in base64url; null when it is not valid or does not lie on its curve. */
export function readPublicKey(text: string): PublicKey | null {
  const found = known.get(text)
  if (found !== undefined) return found
  const key = parsePublicKey(text)
  if (key === null) return null
  if (known.size >= knownMax) known.clear()
  known.set(text, key)
  return key
}

function parsePublicKey(text: string): PublicKey | null {
  const spki = readBase64url(text)
  if (spki === null) return null
  for (const algorithm of ['es256', 'ed25519'] as const) {
    const prefix = prefixes[algorithm]
    if (spki.length !== lengths[algorithm] || !spki.subarray(0, prefix.length).equals(prefix)) continue
    try {
      return { algorithm, key: createPublicKey({ key: spki, format: 'der', type: 'spki' }) }
    } catch {
      return null
    }
  }
  return null
}

/** Base64url without padding, in its only spelling. */
export function readBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
