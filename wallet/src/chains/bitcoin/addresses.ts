import { createHash, ECDH } from 'node:crypto'
import { Address, OutScript } from '@scure/btc-signer'
import type { UtxoParameters } from './parameters.ts'

/** An address in the spelling that is stored, and the script of an output that pays it. */
export type Recipient = { address: string; script: Uint8Array }

/**
 * Reads an address of the main network: P2PKH, P2SH, P2WPKH, P2WSH or taproot. Returns a Bech32 address in lower case.
 * Later witness versions are refused, because today everybody could spend the outputs that pay them.
 *
 * Returns null when the text is not an address of the network.
 */
export function readAddress(text: string, { prefixes }: UtxoParameters): Recipient | null {
  try {
    const codec = Address(prefixes)
    const decoded = codec.decode(text)
    if (decoded.type === 'p2a' || (decoded.type === 'tr' && !isPoint(decoded.pubkey))) return null
    return { address: codec.encode(decoded), script: OutScript.encode(decoded) }
  } catch {
    // The library throws for every text that it cannot read.
    return null
  }
}

/** Returns the P2WPKH address of a key (BIP-84). This wallet derives no other kind of address. */
export function addressOf(publicKey: Uint8Array, { prefixes }: UtxoParameters): string {
  return Address(prefixes).encode({ type: 'wpkh', hash: hash160(publicKey) })
}

/** Returns the script of an output that belongs to the key. */
export function scriptOf(publicKey: Uint8Array): Uint8Array {
  return OutScript.encode({ type: 'wpkh', hash: hash160(publicKey) })
}

/** Returns the address of a script; null when the script has no address in this family of networks. */
export function addressOfScript(script: Uint8Array, { prefixes }: UtxoParameters): string | null {
  try {
    const decoded = OutScript.decode(script)
    return 'hash' in decoded || decoded.type === 'tr' ? Address(prefixes).encode(decoded) : null
  } catch {
    return null
  }
}

/** Returns the smallest amount that nodes relay in an output with this script. */
export function dustOf(script: Uint8Array, { dustRate }: Pick<UtxoParameters, 'dustRate'>): bigint {
  const isWitness = script[0] === 0 || script[0] === taprootVersion
  const size = outputBytes(script) + (isWitness ? 67 : 148)
  return (BigInt(size) * dustRate) / 1_000n
}

/** Returns the size of an output: 8 bytes of amount, 1 byte of script length, and the script. */
export const outputBytes = (script: Uint8Array): number => 9 + script.length

/** The instruction OP_1, with which the script of a taproot output begins. */
const taprootVersion = 0x51

function hash160(bytes: Uint8Array): Uint8Array {
  return createHash('ripemd160').update(createHash('sha256').update(bytes).digest()).digest()
}

/** Returns true if the curve has a point with this x. Coins that are paid to a taproot program without such a point are lost. */
function isPoint(x: Uint8Array): boolean {
  try {
    ECDH.convertKey(Buffer.concat([Buffer.from([0x02]), x]), 'secp256k1')
    return true
  } catch {
    return false
  }
}
