/** The numbers in which the networks of this family differ. The bytes of their transactions are the same. */
export type UtxoParameters = {
  type: 'bitcoin' | 'litecoin'
  /** Coin type after SLIP-44. */
  coinType: number
  /** Prefixes of addresses of the main network, in the form of the library. */
  prefixes: { bech32: string; pubKeyHash: number; scriptHash: number; wif: number }
  /** Nodes relay no output that is worth less than its spending costs at this rate, in units for 1,000 virtual bytes. */
  dustRate: bigint
  /** Nodes relay no transaction below this rate, and no replacement that adds less. */
  relayRate: bigint
  /** `fee`: nodes take a replacement that pays more. `child`: they do not, so a child pays for the payment. */
  replacement: 'fee' | 'child'
  /** Hash of the first block of the main network. */
  genesis: string
}

export const bitcoin: UtxoParameters = {
  type: 'bitcoin',
  coinType: 0,
  prefixes: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
  dustRate: 3_000n,
  relayRate: 1_000n,
  replacement: 'fee',
  genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
}

/** P2SH with the version byte of Bitcoin is not read, although nodes know it: the same text pays on Bitcoin. */
export const litecoin: UtxoParameters = {
  type: 'litecoin',
  coinType: 2,
  prefixes: { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 },
  dustRate: 30_000n,
  relayRate: 1_000n,
  replacement: 'child',
  genesis: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
}
