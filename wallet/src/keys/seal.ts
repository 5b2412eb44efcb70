import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'

/** scrypt (RFC 7914) with r = 8, p = 1 and 32 bytes of key; `cost` is its N. */
export async function stretchPassphrase(passphrase: string, salt: Buffer, cost: number): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const limits = { N: cost, r: 8, p: 1, maxmem: 256 * cost * 8 }
    scrypt(passphrase.normalize('NFKC'), salt, 32, limits, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

/**
 * AES-256-GCM: version byte, 12 bytes of nonce, 16 bytes of tag, then the text. `boundTo` is authenticated with it, so that
 * a sealed value moved to another row does not open there.
 */
export function seal(key: Buffer, boundTo: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts what `seal` made; throws when the key, the binding or a single bit differs. */
export function unseal(key: Buffer, boundTo: string, sealed: Buffer): string {
  if (sealed[0] !== version || sealed.length < headerBytes) throw new Error('sealed value has an unknown form')
  const nonce = sealed.subarray(1, 1 + nonceBytes)
  const tag = sealed.subarray(1 + nonceBytes, headerBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag)
  return Buffer.concat([decipher.update(sealed.subarray(headerBytes)), decipher.final()]).toString('utf8')
}

const version = 1
const nonceBytes = 12
const tagBytes = 16
const headerBytes = 1 + nonceBytes + tagBytes
