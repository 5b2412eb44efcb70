import { createPublicKey, ECDH, type KeyObject, verify } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { HDKey } from '@scure/bip32'

/** The public key of an account as the wallet service showed it: all addresses below the path follow from it (BIP-32). */
export type AccountKey = {
  network: string
  /** `m/44/<coinType>/<n>`, the last level that is hardened. */
  derivationPath: string
  xpub: string
  /** The script of the addresses, on Bitcoin and Litecoin. */
  script?: string | undefined
  challenge: string
  /** Ed25519 over the other fields, in base64url. */
  signature: string
}

/** Returns the fault of an account key that the wallet service must have signed with this key, or null. */
export function faultOfAccountKey(key: AccountKey, walletKey: string): string | null {
  const signer = readWalletKey(walletKey)
  if (signer === null) return 'the key of the wallet service is not an Ed25519 key'
  const isSigned = verify(null, Buffer.from(signedTextOf(key)), signer, Buffer.from(key.signature, 'base64url'))
  return isSigned ? faultOfXpub(key) : 'its signature is wrong'
}

/** Version 2 of the text names the script. */
const signedTextOf = ({ network, derivationPath, script, xpub, challenge }: AccountKey) =>
  script === undefined
    ? ['strongroom account key 1', network, derivationPath, xpub, challenge].join('\n')
    : ['strongroom account key 2', network, derivationPath, script, xpub, challenge].join('\n')

/** The EVM address, in lower case, at a path below an account. */
export function evmAddressBelow({ derivationPath: account, xpub }: AccountKey, derivationPath: string): string {
  const levels = derivationPath.slice(account.length)
  const { publicKey } = HDKey.fromExtendedKey(xpub).derive(`m${levels}`)
  const point = ECDH.convertKey(publicKey!, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  return `0x${Buffer.from(keccak_256(point.subarray(1)).subarray(-20)).toString('hex')}`
}

/** The levels below `m` of an account: the purpose, the coin type, the account. */
const depthOfAccount = 3
const hardened = 2 ** 31
/** The form of an extended private key is another one. */
const xpubForm = /^xpub[1-9A-HJ-NP-Za-km-z]{107}$/

function faultOfXpub({ derivationPath, xpub }: AccountKey): string | null {
  if (!xpubForm.test(xpub)) return 'it is not an extended public key'
  try {
    const { depth, index } = HDKey.fromExtendedKey(xpub)
    const account = Number(derivationPath.split('/').at(-1))
    return depth === depthOfAccount && index === hardened + account ? null : 'it is the key of another path'
  } catch {
    return 'it is not an extended public key'
  }
}

/** SPKI in DER has one form for Ed25519, so one key has one spelling. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex')

function readWalletKey(text: string): KeyObject | null {
  const spki = Buffer.from(text, 'base64url')
  if (spki.toString('base64url') !== text || spki.length !== 44 || !spki.subarray(0, 12).equals(ed25519Prefix))
    return null
  return createPublicKey({ key: spki, format: 'der', type: 'spki' })
}
