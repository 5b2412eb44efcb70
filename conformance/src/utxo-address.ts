import { createHash } from 'node:crypto'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import type { AccountKey } from './account-key.ts'

export type UtxoType = 'bitcoin' | 'litecoin'

/** The prefixes of the main and the test network in bech32, the version bytes of P2PKH and P2SH, and the dust of P2WPKH. */
const forms = {
  bitcoin: { prefix: 'bc', testPrefix: 'tb', versions: [0x00, 0x05], dust: 294n },
  litecoin: { prefix: 'ltc', testPrefix: 'tltc', versions: [0x30, 0x32], dust: 2_940n },
} as const
const otherOf = { bitcoin: 'litecoin', litecoin: 'bitcoin' } as const

/** The least amount that nodes relay to an address of P2WPKH. */
export const dustOf = (type: UtxoType): bigint => forms[type].dust

/** Returns true for the one form of own addresses: P2WPKH of the main network, in lower-case bech32. */
export function isOwnForm(text: string, type: UtxoType): boolean {
  const decoded = text === text.toLowerCase() ? bech32.decodeUnsafe(text) : undefined
  if (decoded === undefined || decoded.prefix !== forms[type].prefix || decoded.words[0] !== 0) return false
  return bech32.fromWordsUnsafe(decoded.words.slice(1))?.length === 20
}

/** The address of P2WPKH at a path below an account. */
export function witnessAddressBelow(key: AccountKey, derivationPath: string, type: UtxoType): string {
  const { publicKey } = HDKey.fromExtendedKey(key.xpub).derive(`m${derivationPath.slice(key.derivationPath.length)}`)
  const hash = createHash('ripemd160').update(createHash('sha256').update(publicKey!).digest()).digest()
  return witness(forms[type].prefix, 0, hash)
}

const hash20 = Buffer.alloc(20, 0x51)
const hash32 = Buffer.alloc(32, 0x51)
/** The x of the generator of the curve, which is a point. */
const point = Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex')

/** Addresses of nobody, one of each kind that people may pay. */
export function recipientsOf(type: UtxoType): [kind: string, address: string][] {
  const { prefix, versions } = forms[type]
  return [
    ['P2WPKH', witness(prefix, 0, hash20)],
    ['P2WSH', witness(prefix, 0, hash32)],
    ['taproot', witness(prefix, 1, point)],
    ['P2PKH', inBase58(versions[0])],
    ['P2SH', inBase58(versions[1])],
  ]
}

/** Texts that are no address that anybody may pay. */
export function wrongAddressesOf(type: UtxoType): [fault: string, text: string][] {
  const { prefix, testPrefix, versions } = forms[type]
  const other = forms[otherOf[type]]
  const right = witness(prefix, 0, hash20)
  const publicHash = inBase58(versions[0])
  return [
    ['a wrong checksum', withOtherEnd(right)],
    ['mixed case', right.slice(0, prefix.length + 3) + right.slice(prefix.length + 3).toUpperCase()],
    ['another coin', witness(other.prefix, 0, hash20)],
    ['another coin in base58', inBase58(other.versions[0])],
    // Nodes of Litecoin know P2SH of Bitcoin as well, so that the same text would pay on both.
    ...(type === 'litecoin' ? [['P2SH of Bitcoin', inBase58(other.versions[1])] as [string, string]] : []),
    ['a test network', witness(testPrefix, 0, hash20)],
    ['a taproot program that is no point', witness(prefix, 1, Buffer.alloc(32))],
    [
      'a wrong checksum in base58',
      base58.encode(Buffer.concat([base58.decode(publicHash).slice(0, -1), Buffer.of(1)])),
    ],
    ['an EVM network', '0x000000000000000000000000000000000000dEaD'],
  ]
}

function witness(prefix: string, version: number, program: Uint8Array): string {
  const coder = version === 0 ? bech32 : bech32m
  return coder.encode(prefix, [version, ...coder.toWords(program)])
}

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest())
const inBase58 = (version: number): string => base58check.encode(Buffer.concat([Buffer.of(version), hash20]))

/** The last character is one of the checksum. */
const withOtherEnd = (text: string): string => text.slice(0, -1) + (text.endsWith('q') ? 'p' : 'q')
