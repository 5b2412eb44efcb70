import {
  createECDH,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
} from 'node:crypto'
import { canonicalForm, hashOf } from '../authority/canonical.ts'
import type { AnyAuthority, Authority, AuthorityKey, Authorization, Order, SignedVote } from '../authority/documents.ts'

/** A software passkey (ES256 or EdDSA) or the Ed25519 key of a service. The same seed always gives the same signatures. */
export type TestKey = { entry: AuthorityKey; sign(data: Buffer): Buffer }

export const rpId = 'vault.example.org'
export const origin = 'https://vault.example.org'
/** The page of the wallet service. */
export const signing = { rpId: 'sign.example.net', origins: ['https://sign.example.net'] }
/** The pages of the service; one may be at another host (related origins). */
const service = { rpId, origins: [origin, 'https://sign.example.org'] }

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const curveOrder = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const toNumber = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`)
const toBytes = (number: bigint) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')

export function passkey(
  person: string,
  seed: string,
  algorithm: 'es256' | 'ed25519' = 'es256',
  place: { rpId: string; origins: string[] } = service,
): TestKey {
  const { spki, sign } = algorithm === 'es256' ? es256(seed) : ed25519(seed)
  const id = sha256(`id of ${seed}`).toString('base64url')
  const common = { id, person, name: `Key of ${person}`, publicKey: spki.toString('base64url') }
  return { entry: { ...common, kind: 'passkey', ...place }, sign }
}

export function serviceKey(person: string, seed: string): TestKey {
  const { spki, sign } = ed25519(seed)
  const publicKey = spki.toString('base64url')
  return { entry: { id: `key-of-${person}`, person, name: 'Payroll', publicKey, kind: 'service' }, sign }
}

function es256(seed: string) {
  const secret = (toNumber(sha256(seed)) % (curveOrder - 1n)) + 1n
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(toBytes(secret))
  const point = ecdh.getPublicKey()
  const spki = Buffer.concat([Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex'), point])
  return { spki, sign: (data: Buffer) => signDeterministic(secret, data) }
}

/** ECDSA whose nonce follows from the key and the data, so that vectors are the same every time they are made. */
function signDeterministic(secret: bigint, data: Buffer): Buffer {
  const nonce = (toNumber(createHmac('sha256', toBytes(secret)).update(data).digest()) % (curveOrder - 1n)) + 1n
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(toBytes(nonce))
  const r = toNumber(ecdh.getPublicKey().subarray(1, 33)) % curveOrder
  const s = (inverse(nonce) * ((toNumber(sha256(data)) + r * secret) % curveOrder)) % curveOrder
  const body = Buffer.concat([derInteger(r), derInteger(s)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

function inverse(value: bigint): bigint {
  let [a, b, x, y] = [value, curveOrder, 1n, 0n]
  while (b !== 0n) {
    const quotient = a / b
    ;[a, b, x, y] = [b, a - quotient * b, y, x - quotient * y]
  }
  return ((x % curveOrder) + curveOrder) % curveOrder
}

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  const content = bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  return Buffer.concat([Buffer.from([0x02, content.length]), content])
}

function ed25519(seed: string) {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), sha256(seed)])
  const key: KeyObject = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return { spki, sign: (data: Buffer) => sign(null, data, key) }
}

type Vote = SignedVote['vote']

/** The fields that a hostile page or authenticator changes. */
export type Assertion = Partial<{
  type: string
  challenge: string
  origin: string
  crossOrigin: unknown
  rpId: string
  flags: number
}>

/** The default time of signature of a vote. */
export const signedAt = '2026-01-31T08:55:00.000Z'
/** The default time between the signature of a vote and the end of its order. */
const waitMilliseconds = 24 * 3_600_000

/** By default a vote names the authority of this file. */
type About = Partial<Vote> & Pick<Vote, 'hash' | 'decision'>

export function signVote(key: TestKey, about: About, assertion: Assertion = {}): SignedVote {
  const person = key.entry.person
  const vote: Vote = {
    format: 'strongroom-vote-2',
    subject: 'transfer',
    person,
    authority: hashOf(authority),
    signedAt,
    ...about,
  }
  const message = Buffer.from(canonicalForm(vote))
  const keyId = key.entry.id
  if (key.entry.kind === 'service') return { vote, keyId, signature: key.sign(message).toString('base64url') }
  const client = Buffer.from(
    JSON.stringify({
      type: assertion.type ?? 'webauthn.get',
      challenge: assertion.challenge ?? sha256(message).toString('base64url'),
      origin: assertion.origin ?? key.entry.origins[0],
      crossOrigin: assertion.crossOrigin ?? false,
    }),
  )
  const flags = Buffer.from([assertion.flags ?? 0x05, 0, 0, 0, 1])
  const authenticator = Buffer.concat([sha256(assertion.rpId ?? key.entry.rpId), flags])
  return {
    vote,
    keyId,
    signature: key.sign(Buffer.concat([authenticator, sha256(client)])).toString('base64url'),
    authenticatorData: authenticator.toString('base64url'),
    clientDataJSON: client.toString('base64url'),
  }
}

/** Returns the authorization of an order, with the votes of the initiator and of the approvers. */
export function authorize(order: Order, { by, approvers = [], ...signers }: Signers): Authorization {
  const { authorityVersion, about } = aboutOf(order, signers)
  const hash = hashOf(order)
  const votes = [
    signVote(by, { ...about, hash, decision: 'initiate' }),
    ...approvers.map((key) => signVote(key, { ...about, hash, decision: 'approve' })),
  ]
  return { order, authorityVersion, votes }
}

/** Returns the fields of the request that hands over an order, without the authorization. */
export function requestOf({ transferId: id, ...order }: Order) {
  const { network, coinType, derivationPath, fromAddress, toAddress, contractAddress, amount, feeLevel, maxFee } = order
  return { id, network, coinType, derivationPath, fromAddress, toAddress, contractAddress, amount, feeLevel, maxFee }
}

/** The signers and their authority: by default the authority of this file for the vault of the order. */
export type Signers = { by: TestKey; approvers?: TestKey[]; under?: AnyAuthority; signedAt?: string }

/** Returns the fields of the votes on an order besides the order. */
export function aboutOf(
  { vaultId, expiresAt }: Pick<Order, 'vaultId' | 'expiresAt'>,
  { under = { ...authority, vaultId }, signedAt: chosenTime }: Omit<Signers, 'by' | 'approvers'>,
) {
  const signedAt = chosenTime ?? new Date(Date.parse(expiresAt) - waitMilliseconds).toISOString()
  return { authorityVersion: under.version, about: { authority: hashOf(under), signedAt } }
}

/** Returns the next version of an authority, signed by these keys. */
export function follow(present: Authority, changes: Partial<Authority>, by: TestKey[]) {
  const previous = hashOf(present)
  const next = { ...present, version: present.version + 1, previous, ...changes }
  const about = { subject: 'authority', hash: hashOf(next), authority: previous } as const
  const votes = by.map((key, index) => signVote(key, { ...about, decision: index === 0 ? 'initiate' : 'approve' }))
  return { authority: next, votes }
}

/** Five people, of whom two have two keys, and a service that may order: two of three treasurers approve a large order. */
export const team = {
  anna: passkey('anna', 'anna 1'),
  annaToo: passkey('anna', 'anna 2', 'ed25519'),
  ben: passkey('ben', 'ben'),
  benAtWallet: passkey('ben', 'ben at the wallet', 'es256', signing),
  carla: passkey('carla', 'carla', 'ed25519'),
  dora: passkey('dora', 'dora'),
  emil: passkey('emil', 'emil'),
  payroll: serviceKey('payroll', 'payroll'),
}

export const listed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const unlisted = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
export const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

export const authority: Authority = {
  format: 'strongroom-authority-2',
  vaultId: 'vault-1',
  version: 1,
  previous: null,
  keys: Object.values(team).map(({ entry }) => entry),
  groups: [
    { id: 'treasurers', persons: ['anna', 'ben', 'carla'] },
    { id: 'officers', persons: ['dora', 'emil', 'anna'] },
    { id: 'initiators', persons: ['anna', 'ben', 'payroll'] },
  ],
  addresses: [{ network: 'ethereum', address: listed }],
  change: { group: 'officers', votes: 2 },
  trustsServicePage: true,
  delayHours: 0,
  contacts: [{ person: 'dora', email: 'dora@example.org' }],
  rules: [
    {
      network: 'ethereum',
      contractAddress: null,
      symbol: 'ETH',
      decimals: 18,
      initiators: 'initiators',
      perDay: '10000',
      floors: [
        { above: '1000', to: 'any', group: 'treasurers', votes: 2 },
        { above: '0', to: 'unlisted', group: 'treasurers', votes: 1 },
        { above: '5000', to: 'unlisted', group: 'officers', votes: 1 },
      ],
    },
    {
      network: 'ethereum',
      contractAddress: token,
      symbol: 'TUSD',
      decimals: 6,
      initiators: 'initiators',
      perDay: null,
      floors: [],
    },
  ],
}

export const order: Order = {
  transferId: 'transfer-1',
  vaultId: 'vault-1',
  initiatorId: 'anna',
  fromAddressId: 'address-1',
  fromAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  network: 'ethereum',
  coinType: 60,
  derivationPath: 'm/44/60/0/0/0',
  toAddress: unlisted,
  tokenId: 'token-1',
  contractAddress: null,
  amount: '2000',
  rulesVersion: 3,
  expiresAt: '2026-01-31T09:30:00.000Z',
}
