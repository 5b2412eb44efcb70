import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { hashOfVote, type SignedVote, type Vote } from '../lib/signed-vote.ts'
import type { Assertion, Attestation, CreationOptions, RequestOptions } from '../modules/people/passkeys/schema.ts'

type Flags = {
  isVerified?: boolean
  isSynced?: boolean
  origin?: string
  crossOrigin?: boolean
  rpId?: string
  count?: number
}
type Algorithm = 'ES256' | 'EdDSA'

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest()
const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/** An authenticator in software (WebAuthn): it makes passkeys and signs with them, and can do each thing wrongly. */
export class Authenticator {
  readonly id = randomBytes(16)
  private readonly origin: string
  private readonly algorithm: Algorithm
  private readonly key: { publicKey: KeyObject; privateKey: KeyObject }
  private count = 0

  constructor(origin = 'http://localhost:8420', algorithm: Algorithm = 'ES256') {
    this.origin = origin
    this.algorithm = algorithm
    this.key =
      algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  }

  /** As `navigator.credentials.create`. */
  create(options: CreationOptions, flags: Flags = {}): Attestation {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const made = Buffer.concat([Buffer.alloc(16), length, this.id, this.cosePublicKey()])
    const authData = Buffer.concat([this.head(options.rp.id, 0x40, flags), made])
    const attestationObject = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(authData)],
    ])
    return {
      id: b64(this.id),
      clientDataJSON: b64(this.clientData('webauthn.create', options.challenge, flags)),
      attestationObject: b64(attestationObject),
      transports: ['internal'],
    }
  }

  /** As `navigator.credentials.get`. */
  get(options: RequestOptions, flags: Flags = {}): Assertion {
    this.count += 1
    const authenticatorData = this.head(options.rpId, 0, flags)
    const clientData = this.clientData('webauthn.get', options.challenge, flags)
    const signed = Buffer.concat([authenticatorData, sha256(clientData)])
    return {
      id: b64(this.id),
      clientDataJSON: b64(clientData),
      authenticatorData: b64(authenticatorData),
      signature: b64(sign(this.algorithm === 'ES256' ? 'sha256' : null, signed, this.key.privateKey)),
    }
  }

  /** Signs a vote, as the pages of the service have it signed. */
  vote(vote: Vote, flags: Flags = {}): SignedVote {
    const { id: keyId, ...answer } = this.get(
      {
        rpId: new URL(this.origin).hostname,
        challenge: b64(hashOfVote(vote)),
        timeout: 1,
        userVerification: 'required',
        allowCredentials: [],
      },
      flags,
    )
    return { vote, keyId, ...answer }
  }

  private clientData(type: string, challenge: string, { origin = this.origin, crossOrigin = false }: Flags): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  }

  private head(rpId: string, more: number, { isVerified = true, isSynced = false, ...flags }: Flags): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(flags.count ?? this.count)
    const bits = 0x01 | (isVerified ? 0x04 : 0) | (isSynced ? 0x18 : 0) | more
    return Buffer.concat([sha256(flags.rpId ?? rpId), Buffer.of(bits), count])
  }

  private cosePublicKey(): Buffer {
    const { x, y } = this.key.publicKey.export({ format: 'jwk' })
    const bytes = (text: string | undefined) => cborBytes(Buffer.from(text!, 'base64url'))
    const isEc = this.algorithm === 'ES256'
    return cborMap([
      [cborInt(1), cborInt(isEc ? 2 : 1)],
      [cborInt(3), cborInt(isEc ? -7 : -8)],
      [cborInt(-1), cborInt(isEc ? 1 : 6)],
      [cborInt(-2), bytes(x)],
      ...(isEc ? [[cborInt(-3), bytes(y)] as [Buffer, Buffer]] : []),
    ])
  }
}

const cborHead = (major: number, length: number): Buffer =>
  length < 24
    ? Buffer.of((major << 5) | length)
    : length < 256
      ? Buffer.of((major << 5) | 24, length)
      : Buffer.of((major << 5) | 25, length >> 8, length & 255)
const cborInt = (value: number) => (value < 0 ? cborHead(1, -1 - value) : cborHead(0, value))
const cborText = (text: string) => Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)])
const cborBytes = (bytes: Buffer) => Buffer.concat([cborHead(2, bytes.length), bytes])
const cborMap = (pairs: [Buffer, Buffer][]) => Buffer.concat([cborHead(5, pairs.length), ...pairs.flat()])
