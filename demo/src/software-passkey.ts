import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { type ChallengeTerms, challengeOf, rpIdOf } from '@strongroom/sdk/signing'
import { hashOf } from './canonical.ts'

export type Algorithm = 'ES256' | 'EdDSA'

/** A passkey in the form in which it is stored in a file. */
export type StoredPasskey = { id: string; algorithm: Algorithm; privateKey: JsonWebKey }

/** The statements of an authenticator about itself and the requesting page. By default they are true. */
export type Claims = {
  isVerified?: boolean
  isSynced?: boolean
  origin?: string
  crossOrigin?: boolean
  rpId?: string
  count?: number
  /** Alters the JSON of the client data. */
  alter?: (json: string) => string | Buffer
}

type Vote = {
  format: string
  subject: string
  hash: string
  decision: string
  person: string
  authority?: string | null
  signedAt?: string
}
/** The answer of the service to a request to prepare a signature. */
type Prepared = { nonce: string }
type Call = { method: string; path: string; bodyHash: string }
type OfOrigin<Document> = Document extends unknown ? Omit<Document, 'origin'> : never

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest()
const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/**
 * An authenticator in software (WebAuthn). It makes one passkey and signs with it for anybody who has the file. For the
 * demo and for tests: the key of a person belongs in hardware that verifies the person.
 */
export class SoftwarePasskey {
  readonly id: Buffer
  readonly origin: string
  readonly #algorithm: Algorithm
  readonly #privateKey: KeyObject

  constructor(origin: string, { id, algorithm, privateKey }: StoredPasskey = newPasskey()) {
    this.id = Buffer.from(id, 'base64url')
    this.origin = origin
    this.#algorithm = algorithm
    this.#privateKey = createPrivateKey({ key: privateKey, format: 'jwk' })
  }

  /** The public key as SPKI in DER. */
  get publicKey(): Buffer {
    return createPublicKey(this.#privateKey).export({ format: 'der', type: 'spki' })
  }

  /** Registers the passkey with the service, which answered the nonce. */
  async register({ nonce }: Prepared, claims: Claims = {}) {
    return { ...this.create(await this.#challengeOf({ purpose: 'add-passkey', nonce }), claims), nonce }
  }

  async signIn({ nonce }: Prepared, claims: Claims = {}) {
    return { ...this.get(await this.#challengeOf({ purpose: 'sign-in', nonce }), claims), nonce }
  }

  /** Confirms that another passkey of the person is added. */
  async acceptPasskey({ nonce }: Prepared, claims: Claims = {}) {
    return { ...this.get(await this.#challengeOf({ purpose: 'add-passkey', nonce }), claims), nonce }
  }

  /** Confirms exactly this call. */
  async confirm({ method, path, bodyHash }: Call, { nonce }: Prepared, claims: Claims = {}) {
    const challenge = await this.#challengeOf({ purpose: 'confirm', nonce, method, path, bodyHash })
    return { ...this.get(challenge, claims), nonce }
  }

  /** Works like `navigator.credentials.create`. */
  create(challenge: string, claims: Claims = {}) {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const made = Buffer.concat([Buffer.alloc(16), length, this.id, this.#cosePublicKey()])
    const authData = Buffer.concat([headOf(rpIdOf(this.origin), 0x40, claims), made])
    const attestationObject = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(authData)],
    ])
    return {
      id: b64(this.id),
      clientDataJSON: b64(this.#clientData('webauthn.create', challenge, claims)),
      attestationObject: b64(attestationObject),
      transports: ['internal' as const],
    }
  }

  /** Works like `navigator.credentials.get`. Like a synced passkey, it does not count signatures. */
  get(challenge: string, claims: Claims = {}) {
    const authenticatorData = headOf(rpIdOf(this.origin), 0, claims)
    const clientData = this.#clientData('webauthn.get', challenge, claims)
    const signed = Buffer.concat([authenticatorData, sha256(clientData)])
    return {
      id: b64(this.id),
      clientDataJSON: b64(clientData),
      authenticatorData: b64(authenticatorData),
      signature: b64(sign(this.#algorithm === 'ES256' ? 'sha256' : null, signed, this.#privateKey)),
    }
  }

  /** Signs a vote of a protected vault, as a passkey does for the pages of the service. */
  vote<Signed extends Vote>(vote: Signed, claims: Claims = {}) {
    const challenge = b64(Buffer.from(hashOf(vote), 'hex'))
    const { id: keyId, ...answer } = this.get(challenge, claims)
    return { vote, keyId, ...answer }
  }

  /**
   * Computes the challenge in the client. The signed document states its purpose, whatever nonce the service answered.
   */
  async #challengeOf(about: OfOrigin<ChallengeTerms>): Promise<string> {
    return b64(await challengeOf({ ...about, origin: this.origin }))
  }

  #clientData(type: string, challenge: string, { origin = this.origin, crossOrigin = false, alter }: Claims): Buffer {
    const json = JSON.stringify({ type, challenge, origin, crossOrigin })
    return Buffer.from(alter?.(json) ?? json)
  }

  #cosePublicKey(): Buffer {
    const { x, y } = createPublicKey(this.#privateKey).export({ format: 'jwk' })
    const bytes = (text: string | undefined) => cborBytes(Buffer.from(text!, 'base64url'))
    const isEc = this.#algorithm === 'ES256'
    return cborMap([
      [cborInt(1), cborInt(isEc ? 2 : 1)],
      [cborInt(3), cborInt(isEc ? -7 : -8)],
      [cborInt(-1), cborInt(isEc ? 1 : 6)],
      [cborInt(-2), bytes(x)],
      ...(isEc ? [[cborInt(-3), bytes(y)] as [Buffer, Buffer]] : []),
    ])
  }
}

export function newPasskey(algorithm: Algorithm = 'ES256'): StoredPasskey {
  const { privateKey } =
    algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  return { id: b64(randomBytes(16)), algorithm, privateKey: privateKey.export({ format: 'jwk' }) }
}

/** Returns the start of `authenticatorData`: the host, the checks, and the number of signatures. */
function headOf(host: string, more: number, { isVerified = true, isSynced = false, rpId, count = 0 }: Claims): Buffer {
  const signatures = Buffer.alloc(4)
  signatures.writeUInt32BE(count)
  const bits = 0x01 | (isVerified ? 0x04 : 0) | (isSynced ? 0x18 : 0) | more
  return Buffer.concat([sha256(rpId ?? host), Buffer.of(bits), signatures])
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
