import { createHash } from 'node:crypto'

/**
 * Returns the canonical form of a document that people sign (docs/signed-orders.md), of strings, whole numbers, null,
 * arrays and objects. A signer computes it without the service, and takes no hash from it.
 */
function canonicalForm(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalForm).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalForm(member)}`).join(',')}}`
}

/** Returns the SHA-256 of the canonical form, in hex. */
export const hashOf = (document: unknown): string => createHash('sha256').update(canonicalForm(document)).digest('hex')
