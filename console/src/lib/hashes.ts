/**
 * JSON with sorted keys and no white space, as the service hashes it. Only whole numbers have one form.
 * @throws TypeError for what has no canonical form
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} has no canonical form`)
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`A ${typeof value} has no canonical form`)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}

/** SHA-256 of a text in UTF-8, in hexadecimal digits. The browser has it on pages that came by HTTPS or from localhost. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function canHash(): boolean {
  return globalThis.crypto?.subtle !== undefined
}

/** What comes before the first seal of a chain. */
export const noHash = '0'.repeat(64)

export type Seal = {
  sequence: number
  previousHash: string
  records: { id: string; hash: string }[]
  sealedAt: string
  hash: string
}

/** The hash that a seal must have: it binds the seal before it and every record of its own. */
export function hashOfSeal(chain: string, { sequence, previousHash, records, sealedAt }: Omit<Seal, 'hash'>) {
  const held = records.map(({ id, hash }) => ({ id, hash }))
  return sha256(canonicalJson({ chain, sequence, previousHash, records: held, sealedAt }))
}
