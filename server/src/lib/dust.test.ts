import { expect, it } from 'vitest'
import { leastAmountTo } from './dust.ts'
import type { NetworkType } from './onchain-address.ts'

it.each<[string, NetworkType, bigint | null]>([
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'bitcoin', 294n],
  ['bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', 'bitcoin', 330n],
  ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'bitcoin', 330n],
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'bitcoin', 546n],
  ['3P14159f73E4gFr7JterCCQh9QjiTjiZrG', 'bitcoin', 540n],
  ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'litecoin', 2_940n],
  ['LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQF', 'litecoin', 5_460n],
  ['MVDCJxZd4A5VUm81QmeC1qf6U7LASsr7LT', 'litecoin', 5_400n],
  ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'evm', null],
  ['So11111111111111111111111111111111111111112', 'solana', null],
])('%s on %s receives at least %s', (address, type, least) => expect(leastAmountTo(address, type)).toBe(least))
