import { Type } from 'typebox'
import { Nullable } from '../../../http/schema.ts'

const digits = (count: number, description: string) =>
  Type.String({
    description,
    pattern: `^[0-9a-f]{${count}}$`,
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'.repeat(2).slice(0, count)],
  })

/** Returns the schema of 32 bytes in hexadecimal digits. */
export const Hash = (description: string) => digits(64, description)

/** The properties of signed seals; null in older seals, which are not signed. */
export const signedSeal = {
  root: Nullable(Hash('Root of the Merkle tree of `records`; null in old seals, which are not signed.')),
  keyId: Nullable(
    digits(32, 'Identifier of the key that signed the seal: the first 32 digits of the SHA-256 of its bytes.'),
  ),
  publicKey: Nullable(Hash('The Ed25519 public key that verifies `signature`.')),
  signature: Nullable(digits(128, 'Ed25519 signature of `hash` (docs/audit.md).')),
}
