import { canonicalJson } from '@strongroom/sdk/signing'

export { canonicalJson }

/**
 * Returns the SHA-256 of a text in UTF-8, in hexadecimal digits. Browsers have it on pages that came by HTTPS or from
 * localhost.
 */
export async function sha256(text: string): Promise<string> {
  return sha256Of(new TextEncoder().encode(text))
}

/** Returns the SHA-256 of bytes, in hexadecimal digits. */
async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hexOf(await digest(bytes))
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))

export function canHash(): boolean {
  return globalThis.crypto?.subtle !== undefined
}

/** The previous hash of the first seal of a chain. */
export const noHash = '0'.repeat(64)

export type Seal = {
  sequence: number
  previousHash: string
  records: { id: string; hash: string }[]
  sealedAt: string
  hash: string
  /** Null or absent for a seal from before seals were signed. */
  root?: string | null
  keyId?: string | null
  publicKey?: string | null
  signature?: string | null
}

/** Returns the hash that a seal must have. It binds the previous seal and every record of this seal. */
export async function hashOfSeal(chain: string, seal: Omit<Seal, 'hash'>): Promise<string> {
  const { sequence, previousHash, sealedAt, keyId } = seal
  const records = seal.records.map(({ id, hash }) => ({ id, hash }))
  const head = { chain, sequence, previousHash, sealedAt }
  if (!isSigned(seal)) return sha256(canonicalJson({ ...head, records }))
  const root = await rootOf(records)
  return sha256(canonicalJson({ ...head, keyId, log: 'audit', root, size: records.length }))
}

const isSigned = ({ root }: Omit<Seal, 'hash'>): boolean => root !== null && root !== undefined

/** Returns the root of the Merkle tree of RFC 6962, with a leaf for each record (docs/audit.md). */
async function rootOf(records: Seal['records']): Promise<string> {
  const leaf = (text: string) => digest(Uint8Array.of(0, ...new TextEncoder().encode(text)))
  let row = await Promise.all(records.map((record) => leaf(canonicalJson(record))))
  if (row.length === 0) return sha256('')
  while (row.length > 1) {
    const pairs = row.flatMap((left, index) => (index % 2 === 0 ? [[left, row[index + 1]] as const] : []))
    row = await Promise.all(
      pairs.map(([left, right]) => (right === undefined ? left : digest(Uint8Array.of(1, ...left, ...right)))),
    )
  }
  return hexOf(row[0]!)
}

/**
 * Returns true if the key that a seal names has signed it. Returns null if the seal is older than signed seals, or the
 * browser has no Ed25519.
 */
export async function isSealSigned(seal: Seal): Promise<boolean | null> {
  const { publicKey, keyId, signature, hash } = seal
  if (!isSigned(seal)) return null
  const raw = bytesOf(publicKey ?? '')
  if (hexOf(await digest(raw)).slice(0, 32) !== keyId) return false
  try {
    const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
    const text = new TextEncoder().encode(`strongroom-seal-1:${hash}`)
    return await crypto.subtle.verify('Ed25519', key, bytesOf(signature ?? ''), text)
  } catch (error) {
    if ((error as Error).name === 'NotSupportedError') return null
    return false
  }
}

/**
 * Decodes base64url.
 * @throws DOMException if the text is not base64url
 */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

export function toText(bytes: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
