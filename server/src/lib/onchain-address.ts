import { ECDH } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'

export const networkTypes = ['evm', 'bitcoin', 'litecoin', 'tron', 'solana', 'other'] as const
export type NetworkType = (typeof networkTypes)[number]

/** Returns true if an address holds outputs of transactions, and what a payment costs depends on which of them it spends. */
export const hasOutputs = (type: NetworkType): boolean => type === 'bitcoin' || type === 'litecoin'

/** An on-chain address as it is shown, and the key by which its spellings are compared. */
export type OnchainAddress = { address: string; key: string }

/**
 * Reads an on-chain address. Every checksum of the network must be right.
 * - evm: any case, shown in EIP-55 form; a mixed-case address must have the right EIP-55 checksum.
 * - bitcoin, litecoin: of the main network only, so that nobody pays an address that exists only on a test network: P2PKH
 * and P2SH (base58check), and witness programs of versions 0 to 16 (BIP-173, BIP-350), shown in lower case. The program of a
 * taproot address must be a point of the curve, because coins that are paid to another program are lost.
 * - tron: base58check with the version byte 0x41.
 * - solana: base58 of 32 bytes; there is no checksum.
 * - other: compared exactly, because its rules are unknown.
 *
 * Returns null when the text is not an address of the network.
 */
export function parseOnchainAddress(text: string, type: NetworkType): OnchainAddress | null {
  return parsers[type](text)
}

/**
 * Reads the contract that identifies a token on its network. It is compared as the network compares addresses. Bitcoin and Litecoin have no
 * contracts, so that an identifier used instead, such as the id of a rune, is compared exactly.
 */
export function parseContract(text: string, type: NetworkType): OnchainAddress | null {
  return parseOnchainAddress(text, hasOutputs(type) ? 'other' : type)
}

/** Returns true if only the checksum prevents a text from being an address of the network: a character of the text is mistyped. */
export function isMistyped(text: string, type: NetworkType): boolean {
  if (parseOnchainAddress(text, type) !== null) return false
  if (type === 'evm') return parseEvm(text.toLowerCase()) !== null
  if (type === 'tron') return base58Version(text) === 0x41
  const form = type === 'bitcoin' ? bitcoinForm : type === 'litecoin' ? litecoinForm : null
  if (form === null) return false
  const isWitness = new RegExp(`^${form.prefix}1[02-9ac-hj-np-z]{14,87}$`).test(text.toLowerCase())
  if (!isWitness) return form.versions.includes(base58Version(text) ?? -1)
  const isOneCase = text === text.toLowerCase() || text === text.toUpperCase()
  return isOneCase && bech32.decodeUnsafe(text) === undefined && bech32m.decodeUnsafe(text) === undefined
}

/**
 * Returns true if a text has the form of an address of a network with checksums but is not valid: a character is mistyped, or upper
 * and lower case are mixed. Such a text is not an address anywhere, also where the rules of a network are unknown.
 */
export function isFaultyAddress(text: string): boolean {
  const isWitness = /^(bc|ltc)1[0-9a-z]{8,}$/i.test(text)
  const isOfType = (type: NetworkType) => parseOnchainAddress(text, type) !== null
  if (isWitness) return !isOfType('bitcoin') && !isOfType('litecoin')
  return (['evm', 'bitcoin', 'litecoin', 'tron'] as const).some((type) => isMistyped(text, type))
}

const parsers: Record<NetworkType, (text: string) => OnchainAddress | null> = {
  evm: parseEvm,
  bitcoin: (text) => parseUtxo(text, bitcoinForm),
  litecoin: (text) => parseUtxo(text, litecoinForm),
  tron: (text) => (versionedHash(text)?.version === 0x41 ? exactly(text) : null),
  solana: parseSolana,
  other: (text) => (/^[\x21-\x7e]{1,128}$/.test(text) ? exactly(text) : null),
}

function exactly(text: string): OnchainAddress {
  return { address: text, key: text }
}

function parseEvm(text: string): OnchainAddress | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const lower = text.slice(2).toLowerCase()
  const address = toChecksum(lower)
  const digits = text.slice(2)
  const isMixedCase = digits !== lower && digits !== digits.toUpperCase()
  if (isMixedCase && address !== text) return null
  return { address, key: `0x${lower}` }
}

/** The human-readable part of bech32, and the version bytes of P2PKH and P2SH on the main network. */
type UtxoForm = { prefix: string; versions: number[] }
const bitcoinForm: UtxoForm = { prefix: 'bc', versions: [0x00, 0x05] }
/** P2SH with the version byte of Bitcoin is an address of Bitcoin. */
const litecoinForm: UtxoForm = { prefix: 'ltc', versions: [0x30, 0x32] }

function parseUtxo(text: string, { prefix, versions }: UtxoForm): OnchainAddress | null {
  if (text.toLowerCase().startsWith(`${prefix}1`)) return parseSegwit(text, prefix)
  const version = versionedHash(text)?.version
  return version !== undefined && versions.includes(version) ? exactly(text) : null
}

/**
 * Reads a witness program. BIP-173: no mixed case, a program of 2 to 40 bytes; BIP-141: version 0 has 20 or 32; BIP-350:
 * bech32m from version 1.
 */
function parseSegwit(text: string, prefix: string): OnchainAddress | null {
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return null
  const asVersion0 = bech32.decodeUnsafe(lower)
  const decoded = asVersion0 ?? bech32m.decodeUnsafe(lower)
  if (decoded === undefined || decoded.prefix !== prefix) return null
  const [version, ...words] = decoded.words
  if (version === undefined || version > 16 || (version === 0) !== (asVersion0 !== undefined)) return null
  const program = bech32.fromWordsUnsafe(words)
  if (program === undefined || program.length < 2 || program.length > 40) return null
  if (version === 0 && program.length !== 20 && program.length !== 32) return null
  if (version === 1 && program.length === 32 && !isPoint(program)) return null
  return { address: lower, key: lower }
}

/** Returns true if the curve has a point with this x. */
function isPoint(x: Uint8Array): boolean {
  try {
    ECDH.convertKey(Buffer.concat([Buffer.from([0x02]), x]), 'secp256k1')
    return true
  } catch {
    return false
  }
}

const base58check = createBase58check(sha256)

/** Returns the version byte before a hash of 20 bytes in base58check; null for any other text. */
function versionedHash(text: string): { version: number } | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{25,35}$/.test(text)) return null
  try {
    const bytes = base58check.decode(text)
    return bytes.length === 21 ? { version: bytes[0]! } : null
  } catch {
    // The decoder throws for a wrong checksum.
    return null
  }
}

/** Returns the version byte of 25 bytes in base58, whatever their checksum; null for any other text. */
function base58Version(text: string): number | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{25,35}$/.test(text)) return null
  const bytes = base58.decode(text)
  return bytes.length === 25 ? bytes[0]! : null
}

function parseSolana(text: string): OnchainAddress | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return null
  return base58.decode(text).length === 32 ? exactly(text) : null
}

/** Returns the EIP-55 form: a digit is upper case if the hash of the lower-case address has a nibble of 8 or more. */
function toChecksum(lower: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)))
  let checksummed = '0x'
  for (let i = 0; i < 40; i += 1) {
    const digit = lower.charAt(i)
    checksummed += Number.parseInt(hash.charAt(i), 16) >= 8 ? digit.toUpperCase() : digit
  }
  return checksummed
}

/** Returns true if two texts are the same address. Hex is compared without case, because nodes and wallets write it differently. */
export function isSameAddress(a: string, b: string): boolean {
  return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase())
}

/**
 * Returns the key of a transaction hash: hex hashes are compared in lower case, because nodes and explorers disagree on case.
 * Without `0x` only 64 digits are hex for sure (Bitcoin, Tron): the base58 hashes of Solana are longer.
 */
export function txHashKey(text: string): string {
  return /^(0x[0-9a-f]+|[0-9a-f]{64})$/i.test(text) ? text.toLowerCase() : text
}
