/** The encoding of every document that is signed (docs/signed-orders.md). */

/**
 * Returns JSON after RFC 8785 of a document of strings, booleans, whole numbers, null, arrays and objects. Members that
 * are undefined are left out.
 * @throws TypeError for a value without a canonical form
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return numberOf(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`A ${typeof value} has no canonical form`)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

function numberOf(value: number): string {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${value} has no canonical form`)
  return String(value)
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** Returns the bytes that a signature covers: the canonical form in UTF-8. */
export const bytesOf = (document: object): Uint8Array<ArrayBuffer> => utf8(canonicalJson(document))

/** Returns the 32 bytes of a document's hash. */
export async function digestOf(document: object): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(document)))
}

/** Returns the hash of a document, in 64 hexadecimal digits. */
export async function hashOf(document: object): Promise<string> {
  return [...(await digestOf(document))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Encodes bytes in base64url without padding. */
export function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
