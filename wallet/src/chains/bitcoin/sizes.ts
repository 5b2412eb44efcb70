import { outputBytes } from './addresses.ts'

/** An output that an address of a client can spend. `txHash` has 64 hex digits, as nodes write it. */
export type Coin = { txHash: string; index: number; amount: bigint }

/**
 * Returns the size in virtual bytes of a transaction of P2WPKH inputs, with the longest signatures. A signature that is
 * shorter by a byte makes a quarter of a virtual byte less, so the true rate is never below the wanted one.
 */
export function sizeOf(inputCount: number, scripts: Uint8Array[]): number {
  const fixed = 8 + countBytes(inputCount) + countBytes(scripts.length)
  const outputs = scripts.reduce((sum, script) => sum + outputBytes(script), 0)
  const bytes = fixed + inputCount * inputBytes + outputs
  return Math.ceil((bytes * 4 + segwitMark + inputCount * witnessBytes) / 4)
}

/** Returns the fee for a size at a rate for 1,000 virtual bytes, rounded up. */
export const feeOf = (rate: bigint, size: number): bigint => (rate * BigInt(size) + 999n) / 1_000n

/** The virtual bytes that a P2WPKH input adds. */
export const inputSize = 68

/** The output that is spent (36), an empty script (1) and the sequence (4). */
const inputBytes = 41
/** Their count (1), the signature (1 + 72) and the public key (1 + 33). */
const witnessBytes = 108
const segwitMark = 2
const countBytes = (count: number) => (count < 253 ? 1 : 3)
