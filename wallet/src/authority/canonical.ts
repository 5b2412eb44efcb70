import { createHash } from 'node:crypto'

/** The values in signed documents. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/**
 * The canonical form (RFC 8785) of a document of strings, whole numbers, booleans, null, arrays and objects with
 * ASCII names.
 * Throws on other values, so that two documents never have the same form.
 */
export function canonicalForm(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) throw new NotCanonicalError('a text has half a surrogate pair')
    return JSON.stringify(value)
  }
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0 || Object.is(value, -0)) {
      throw new NotCanonicalError('a number is not a whole number from 0 to 2^53-1')
    }
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalForm).join(',')}]`
  if (typeof value !== 'object') throw new NotCanonicalError(`a ${typeof value} has no canonical form`)
  const members = Object.entries(value).map(([name, member]) => {
    if (!/^[ -~]+$/.test(name)) throw new NotCanonicalError('the name of a field is not ASCII')
    return [name, `${JSON.stringify(name)}:${canonicalForm(member)}`] as const
  })
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([, text]) => text).join(',')}}`
}

export class NotCanonicalError extends Error {}

/** The hash of a document: 64 lower-case hexadecimal digits. */
export function hashOf(document: unknown): string {
  return createHash('sha256').update(canonicalForm(document)).digest('hex')
}

/** A hash in groups of four digits, as people compare it on two screens. */
export function toFingerprint(hash: string): string {
  return hash.replace(/(.{4})(?=.)/g, '$1 ')
}
