import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto'

/** Returns the SHA-256 digest. Tokens and contents are stored by it. */
export function sha256(content: string | Uint8Array): Buffer {
  return createHash('sha256').update(content).digest()
}

/** Returns a random secret of 32 bytes in URL-safe text, with an optional prefix that identifies its type. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url')
}

/** Returns a random code of six digits, for a person to type. */
export function newCode(): string {
  return randomInt(1_000_000).toString().padStart(6, '0')
}

/** Compares in constant time; lengths may differ. */
export function equalsSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

/**
 * The place of a sealed value: the column of a row, by the values of its primary key. A value opens at no other place. A value that
 * no table stores, such as a cursor, has the table ''. `destination` is the origin to which the value is sent, if it leaves the
 * service. The value cannot be opened for a row with another origin.
 */
export type Place = { table: string; column: string; row: readonly string[]; destination?: string }

/** Returns the origin of a URL as a destination; '' for a text that is not a URL, to which nothing is sent. */
export const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '')

/** Encrypts values that must be readable again, by AES-256-GCM under a key derived from STRONGROOM_SECRET_KEY. */
export type Sealer = {
  /** The id of the key, which every sealed value contains. It reveals nothing about the key. */
  keyId: Buffer
  /** Seals a value. `mark` is set to keep the mark of a value that is sealed again (`markOf`). */
  seal(place: Place, plain: string, mark?: Buffer): Buffer
  /** @throws SealError for a value of another place or destination, of another key, or of an earlier format */
  open(place: Place, sealed: Buffer): string
  /** Opens the format before 0053, which names no place. Only code that seals again may call it (decision 0043). @throws SealError */
  openUnbound(sealed: Buffer): string
  /**
   * Opens the format before 0071, which names no destination. Only code that seals again may call it (decision 0067). @throws
   * SealError
   */
  openUndirected(place: Place, sealed: Buffer): string
  /** Returns the HMAC-SHA-256 under a separate key. It cannot be computed from a copy of the database. `purpose` separates uses. */
  mac(purpose: string, text: string): Buffer
}

export class SealError extends Error {}

export const sealedVersion = 3
/** The format that is bound to a place, but to no destination. */
const undirectedVersion = 2
const keyIdBytes = 8
const markBytes = 8
/** Version, id of the key, mark; then nonce, tag and body. The rules of a vault show the mark (rules-versions/rules-document.ts). */
const headBytes = 1 + keyIdBytes + markBytes

const hasVersion = (version: number, sealed: Buffer): boolean =>
  sealed.length >= headBytes + 28 && sealed[0] === version

const isBound = (sealed: Buffer): boolean => hasVersion(sealedVersion, sealed) || hasVersion(undirectedVersion, sealed)

/** Returns true if a value has a format that names its key, and the key is this one. */
export const isSealedBy = (keyId: Buffer, sealed: Buffer): boolean =>
  isBound(sealed) && sealed.subarray(1, 1 + keyIdBytes).equals(keyId)

/** Returns true if a value has the present format, under this key. */
export const isDirectedBy = (keyId: Buffer, sealed: Buffer): boolean =>
  hasVersion(sealedVersion, sealed) && isSealedBy(keyId, sealed)

/** Returns the mark of a secret: eight bytes that it gets when it is set and keeps when it is sealed again. */
export const markOf = (sealed: Buffer): Buffer =>
  isBound(sealed) ? sealed.subarray(1 + keyIdBytes, headBytes) : markOfUnbound(sealed)

/**
 * Returns the mark of a value of the format before 0053, in which the digest of the sealed bytes identifies a secret. One such
 * value in 256 begins like a value of the present format, for which `markOf` would return another mark.
 */
export const markOfUnbound = (sealed: Buffer): Buffer => sha256(sealed).subarray(0, markBytes)

const deriveFrom = (secretKey: string, use: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', use, bytes))

/** Returns the id of a master key, which is stored with values made under it. It reveals nothing about the key. */
export const keyIdOfSecret = (secretKey: string): Buffer => deriveFrom(secretKey, 'key id', keyIdBytes)

export function createSealer(secretKey: string): Sealer {
  const derive = (use: string, bytes: number) => deriveFrom(secretKey, use, bytes)
  const key = derive('seal', 32)
  const macKey = derive('mac', 32)
  const keyId = keyIdOfSecret(secretKey)
  return {
    keyId,
    seal(place, plain, mark = randomBytes(markBytes)) {
      const head = Buffer.concat([Buffer.from([sealedVersion]), keyId, mark])
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(place, head))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([head, nonce, cipher.getAuthTag(), body])
    },
    open(place, sealed) {
      if (!hasVersion(sealedVersion, sealed)) {
        throw new SealError(`${nameOf(place)} is not sealed in the present format`)
      }
      if (!isSealedBy(keyId, sealed)) throw new SealError(`${nameOf(place)} is sealed under another key`)
      return decrypt(key, sealed.subarray(headBytes), place, boundTo(place, sealed.subarray(0, headBytes)))
    },
    openUndirected(place, sealed) {
      if (!hasVersion(undirectedVersion, sealed) || !isSealedBy(keyId, sealed)) {
        throw new SealError(`${nameOf(place)} is not sealed in the format before`)
      }
      const { table, column, row } = place
      const bound = Buffer.from(JSON.stringify([table, column, ...row]))
      const aad = Buffer.concat([sealed.subarray(0, headBytes), bound])
      return decrypt(key, sealed.subarray(headBytes), place, aad)
    },
    openUnbound: (sealed) => decrypt(key, sealed, null, Buffer.alloc(0)),
    mac: (purpose, text) =>
      createHmac('sha256', macKey)
        .update(JSON.stringify([purpose, text]))
        .digest(),
  }
}

const boundTo = ({ table, column, row, destination }: Place, head: Buffer): Buffer =>
  Buffer.concat([head, Buffer.from(JSON.stringify([table, column, row, destination ?? null]))])

const nameOf = ({ table, column, row }: Place): string => `${table} ${row.join(' ')} ${column}`.trim()

function decrypt(key: Buffer, sealed: Buffer, place: Place | null, aad: Buffer): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 })
    decipher.setAAD(aad).setAuthTag(sealed.subarray(12, 28))
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
  } catch {
    throw new SealError(
      `${place === null ? 'A sealed value' : nameOf(place)} does not open: it was sealed for something else`,
    )
  }
}

/** Returns the items of a list that is separated by commas, such as several webhook secrets during a rotation. */
export function splitList(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/**
 * Returns the key of a webhook signature: a `whsec_` secret is base64, any other is used as its UTF-8 bytes. If the text after
 * the prefix is not base64, the key is empty.
 */
export function webhookKeyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
}
