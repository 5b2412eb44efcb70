import { createPublicKey } from 'node:crypto'

/**
 * Returns the SPKI in DER of a public key as authenticators make it (COSE): ES256 on P-256, or Ed25519. @throws for another key
 * type
 */
export function spkiOfCose(cose: Uint8Array): Buffer {
  const key = readMap(Buffer.from(cose))
  const [type, curve] = [key.get(1), key.get(-1)]
  const coordinate = (label: number) => (key.get(label) as Buffer).toString('base64url')
  const jwk =
    type === 2 && curve === 1
      ? { kty: 'EC', crv: 'P-256', x: coordinate(-2), y: coordinate(-3) }
      : type === 1 && curve === 6
        ? { kty: 'OKP', crv: 'Ed25519', x: coordinate(-2) }
        : null
  if (jwk === null) throw new Error(`No such key: type ${String(type)}, curve ${String(curve)}`)
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' })
}

/** Reads a CBOR map of small integers to small integers and bytes. Such a key holds nothing else. */
function readMap(cbor: Buffer): Map<number, number | Buffer> {
  let at = 0
  const readHead = (): { major: number; value: number } => {
    const first = cbor.readUInt8(at)
    const short = first & 31
    const length = short < 24 ? 0 : short === 24 ? 1 : short === 25 ? 2 : null
    if (length === null) throw new Error('Too long for a key')
    const value = length === 0 ? short : cbor.readUIntBE(at + 1, length)
    at += 1 + length
    return { major: first >> 5, value }
  }
  const readValue = (): number | Buffer => {
    const { major, value } = readHead()
    if (major === 0) return value
    if (major === 1) return -1 - value
    if (major !== 2) throw new Error(`A key holds no CBOR of type ${major}`)
    at += value
    return cbor.subarray(at - value, at)
  }
  const { major, value: pairs } = readHead()
  if (major !== 5) throw new Error('A key is a map')
  const map = new Map<number, number | Buffer>()
  for (let pair = 0; pair < pairs; pair += 1) {
    const label = readValue()
    map.set(label as number, readValue())
  }
  return map
}
