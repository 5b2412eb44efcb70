import { createPublicKey, ECDH, type KeyObject, verify } from 'node:crypto'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bech32 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import type { NetworkType } from './onchain-address.ts'

/**
 * The public key of an account as a wallet service showed it. All addresses below the path follow from it (BIP-32). The
 * signature covers these fields, so that a program that relays or stores them cannot change one.
 */
export type AccountKey = {
  network: string
  /** The type of the network. It is not signed, because the type of a network never changes. */
  type: NetworkType
  /** `m/44/<coinType>/<n>`; the account is the last hardened level. */
  derivationPath: string
  /** The script of the addresses on networks that have several; null on the others. */
  script: string | null
  xpub: string
  /** The challenge of the question, so that an earlier answer is not valid. */
  challenge: string
  /** Ed25519, in base64url. */
  signature: string
}

/** Returns the account of a derivation path; null when the path has no level after the coin type. */
export function accountPathOf(derivationPath: string): string | null {
  const levels = derivationPath.split('/')
  return levels.length < accountLevels ? null : levels.slice(0, accountLevels).join('/')
}

/** Returns the text that a wallet service signs (docs/wallet-protocol.md). */
export function signedTextOf(key: Omit<AccountKey, 'type' | 'signature'>): string {
  const { network, derivationPath, script, xpub, challenge } = key
  return script === null
    ? ['strongroom account key 1', network, derivationPath, xpub, challenge].join('\n')
    : ['strongroom account key 2', network, derivationPath, script, xpub, challenge].join('\n')
}

type Form = { script: string | null; addressOf: (publicKey: Uint8Array) => string }

/** The networks whose addresses can be derived: `addressOf` returns the key (lib/onchain-address.ts) of the address of a public key. */
const forms: Partial<Record<NetworkType, Form>> = {
  evm: { script: null, addressOf: evmAddressOf },
  bitcoin: { script: 'p2wpkh', addressOf: (publicKey) => witnessAddressOf('bc', publicKey) },
  litecoin: { script: 'p2wpkh', addressOf: (publicKey) => witnessAddressOf('ltc', publicKey) },
}

/** Returns true if addresses of the network can follow from public keys of accounts. */
export const isDerivable = (type: NetworkType): boolean => forms[type] !== undefined

/**
 * Returns true if the addresses of an account with this script can be derived. The addresses of a wallet
 * service that names another script, or no script, cannot be derived.
 */
export const isKnownScript = (type: NetworkType, script: string | null): boolean => forms[type]?.script === script

/** Returns the fault of an account key that the wallet service with this key should have signed, or null. */
export function faultOfAccountKey(key: AccountKey, walletKey: string): string | null {
  const signer = readWalletKey(walletKey)
  if (signer === null) return 'the key of the wallet service is not an Ed25519 key'
  const signature = Buffer.from(key.signature, 'base64url')
  if (!verify(null, Buffer.from(signedTextOf(key)), signer, signature)) return 'its signature is wrong'
  return isKnownScript(key.type, key.script) ? faultOfXpub(key) : 'its addresses have another script'
}

/**
 * Returns the key (lib/onchain-address.ts) of the address at a path below an account.
 * @throws when the path is not below the account, or the network has no derived addresses
 */
export function addressBelow({ type, derivationPath: account, xpub }: AccountKey, derivationPath: string): string {
  if (accountPathOf(derivationPath) !== account) throw new Error(`${derivationPath} is not below ${account}`)
  const indexes = derivationPath.split('/').slice(accountLevels).map(Number)
  const last = indexes.pop()
  const parent = parentOf(xpub, indexes)
  const { publicKey } = last === undefined ? parent : parent.deriveChild(last)
  return forms[type]!.addressOf(publicKey!)
}

function evmAddressOf(publicKey: Uint8Array): string {
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  return `0x${Buffer.from(keccak_256(point.subarray(1)).subarray(-20)).toString('hex')}`
}

/** The witness program of version 0 over the hash of one key (P2WPKH, BIP-84). */
function witnessAddressOf(prefix: string, publicKey: Uint8Array): string {
  return bech32.encode(prefix, [0, ...bech32.toWords(ripemd160(sha256(publicKey)))])
}

/** `m`, the purpose, the coin type and the account. */
const accountLevels = 4
const hardened = 2 ** 31
const xpubForm = /^xpub[1-9A-HJ-NP-Za-km-z]{107}$/

/**
 * Returns the fault of an extended public key, or null. The form of a private key is refused, so that a private key that was
 * shown by mistake is never kept.
 */
function faultOfXpub({ derivationPath, xpub }: AccountKey): string | null {
  if (!xpubForm.test(xpub)) return 'it is not an extended public key'
  try {
    const { depth, index } = HDKey.fromExtendedKey(xpub)
    const account = Number(derivationPath.split('/').at(-1))
    return depth === accountLevels - 1 && index === hardened + account ? null : 'it is the key of another path'
  } catch {
    return 'it is not an extended public key'
  }
}

/** The parents of addresses, by key and path. Many addresses share a parent, and each level costs a multiplication on the curve. */
const parents = new Map<string, HDKey>()
const parentsMax = 1_000

function parentOf(xpub: string, indexes: number[]): HDKey {
  const name = [xpub, ...indexes].join('/')
  const known = parents.get(name)
  if (known !== undefined) return known
  const parent = indexes.reduce((node, index) => node.deriveChild(index), HDKey.fromExtendedKey(xpub))
  if (parents.size >= parentsMax) parents.clear()
  parents.set(name, parent)
  return parent
}

/** The prefix of an Ed25519 key in SPKI DER. That form is unique, so one key has one spelling. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex')

function readWalletKey(text: string): KeyObject | null {
  const spki = Buffer.from(text, 'base64url')
  if (spki.toString('base64url') !== text || spki.length !== 44 || !spki.subarray(0, 12).equals(ed25519Prefix))
    return null
  return createPublicKey({ key: spki, format: 'der', type: 'spki' })
}
