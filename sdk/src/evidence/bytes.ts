/** Hashes and encodings of sealed and signed data, by WebCrypto. */

export type Bytes = Uint8Array<ArrayBuffer>

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

export async function digest(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/** Returns the SHA-256 of a text in UTF-8, in hex. */
export const sha256 = async (text: string): Promise<string> => toHex(await digest(utf8(text)))

export const toHex = (bytes: Bytes): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Decodes hex. @throws TypeError for a text that is not hex in lower case */
export function fromHex(text: string): Bytes {
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new TypeError('This text is not hexadecimal')
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
}

/** Decodes base64url. @throws DOMException or TypeError for a text that is not its canonical encoding without padding */
export function fromBase64url(text: string): Bytes {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new TypeError('This text is not base64url')
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
  if (toBase64url(bytes) !== text) throw new TypeError('This text is not base64url')
  return bytes
}

export function toBase64url(bytes: Bytes): string {
  const text = btoa([...bytes].map((byte) => String.fromCharCode(byte)).join(''))
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/**
 * Returns true if the key made the signature over the bytes, and null if this platform does not know the algorithm.
 * @param key SPKI of an ECDSA key on P-256 or of an Ed25519 key, or the 32 raw bytes of the latter
 * @param signature 64 bytes: r and s of ECDSA, or the signature of Ed25519
 */
export async function isSignature(key: Bytes, signature: Bytes, bytes: Bytes): Promise<boolean | null> {
  const isRaw = key.length === 32
  const isEd25519 = isRaw || key.length === ed25519SpkiLength
  const algorithm = isEd25519 ? { name: 'Ed25519' } : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  try {
    const imported = await crypto.subtle.importKey(isRaw ? 'raw' : 'spki', key, algorithm, false, ['verify'])
    return await crypto.subtle.verify(algorithm, imported, signature, bytes)
  } catch (error) {
    return isEd25519 && (error as Error).name === 'NotSupportedError' ? null : false
  }
}

const ed25519SpkiLength = 44
