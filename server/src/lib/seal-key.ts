import { createPrivateKey, createPublicKey, hkdfSync, sign, verify } from 'node:crypto'
import { sha256 } from './secrets.ts'

/** The Ed25519 key that signs seals and heads. It is derived from STRONGROOM_SECRET_KEY, so that the database never has it. */
export type SealKey = {
  /** The id of the key: the first 32 hexadecimal digits of the SHA-256 of its public half. */
  keyId: string
  /** 32 bytes. */
  publicKey: Buffer
  sign(text: string): Buffer
}

/** The type of a signed text, which is its first word: a signed seal is never a signed list of heads. */
export type Signed = 'seal' | 'heads' | 'archive'

/** Returns the text that is signed: its type, and the SHA-256 that it binds. */
export const signedText = (type: Signed, hash: Buffer): string => `strongroom-${type}-1:${hash.toString('hex')}`

export const keyIdOf = (publicKey: Buffer): string => sha256(publicKey).toString('hex').slice(0, 32)

export function createSealKey(secretKey: string): SealKey {
  const seed = Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', 'seal key', 32))
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(spkiHead.length)
  return { keyId: keyIdOf(publicKey), publicKey, sign: (text) => sign(null, Buffer.from(text), key) }
}

export function isSignedByKey(publicKey: Buffer, text: string, signature: Buffer): boolean {
  if (publicKey.length !== 32) return false
  try {
    const key = createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: 'der', type: 'spki' })
    return verify(null, Buffer.from(text), key, signature)
  } catch {
    return false
  }
}

/** The bytes before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')
