import type { NetworkType } from './onchain-address.ts'

/** The default of nodes, in raw units for each virtual byte: they do not relay an output that costs more to spend than it is worth. */
const ratePerByte: Partial<Record<NetworkType, bigint>> = { bitcoin: 3n, litecoin: 30n }

/**
 * Returns the least amount of the coin that nodes of the network relay to an address, in raw units; null on networks without
 * such a limit. `address` has the form that `parseOnchainAddress` returns.
 */
export function leastAmountTo(address: string, type: NetworkType): bigint | null {
  const rate = ratePerByte[type]
  if (rate === undefined) return null
  const program = witnessProgramBytes(address)
  if (program !== null) return rate * BigInt(amountAndLength + 2 + program + witnessInputBytes)
  const script = /^[1L]/.test(address) ? payToKeyHashBytes : payToScriptHashBytes
  return rate * BigInt(amountAndLength + script + inputBytes)
}

/** The amount of an output, and the length of its script. */
const amountAndLength = 8 + 1
const payToKeyHashBytes = 25
const payToScriptHashBytes = 23
/** The size that nodes assume for an input that spends the output. */
const inputBytes = 148
const witnessInputBytes = 67

/** Returns the length of the witness program of a bech32 address; null for another address. */
function witnessProgramBytes(address: string): number | null {
  const separator = /^(bc|ltc)1/.exec(address)?.[0]
  if (separator === undefined) return null
  // The version is one character and the checksum six; each of the others stands for five bits.
  return Math.floor(((address.length - separator.length - 1 - 6) * 5) / 8)
}
