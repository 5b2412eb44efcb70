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

/** SHA-256: tokens and contents are stored by this digest. */
export function sha256(content: string | Uint8Array): Buffer {
  return createHash('sha256').update(content).digest()
}

/** A random secret of 32 bytes in URL-safe text, with an optional prefix that identifies its kind. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url')
}

/** A random code of six digits, for a person to type. */
export function newCode(): string {
  return randomInt(1_000_000).toString().padStart(6, '0')
}

/** Compares in constant time; lengths may differ. */
export function equalsSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

/** Encrypts values that must be readable again, by AES-256-GCM under a key derived from STRONGROOM_SECRET_KEY. */
export type Sealer = {
  seal(plain: string): Buffer
  open(sealed: Buffer): string
  /** HMAC-SHA-256 under a separate key; it cannot be computed from a copy of the database. `purpose` separates uses. */
  mac(purpose: string, text: string): Buffer
}

export function createSealer(secretKey: string): Sealer {
  const key = Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', 'seal', 32))
  const macKey = Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', 'mac', 32))
  return {
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
      decipher.setAuthTag(sealed.subarray(12, 28))
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
    },
    mac: (purpose, text) =>
      createHmac('sha256', macKey)
        .update(JSON.stringify([purpose, text]))
        .digest(),
  }
}

/** The items of a list that is separated by commas, such as several webhook secrets during a rotation. */
export function splitList(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/**
 * The key of a webhook signature: a `whsec_` secret is base64, any other is used as its UTF-8 bytes. If the text after
 * the prefix is not base64, the key is empty.
 */
export function webhookKeyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
}
