import { describe, expect, it } from 'vitest'
import {
  isFaultyAddress,
  isMistyped,
  type NetworkType,
  parseContract,
  parseOnchainAddress,
  txHashKey,
} from './onchain-address.ts'

/** The vectors of EIP-55. */
const vectors = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

describe('on-chain addresses', () => {
  it.each(vectors)('EIP-55 %s is read in every spelling without a checksum', (address) => {
    const expected = { address, key: address.toLowerCase() }
    expect(parseOnchainAddress(address, 'evm')).toEqual(expected)
    expect(parseOnchainAddress(address.toLowerCase(), 'evm')).toEqual(expected)
    expect(parseOnchainAddress(`0x${address.slice(2).toUpperCase()}`, 'evm')).toEqual(expected)
  })

  it.each([
    ['a wrong checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'],
    ['too short', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe'],
    ['too long', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0'],
    ['no prefix', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['an upper-case prefix', '0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['another letter', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg'],
    ['white space', ' 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['nothing', ''],
  ])('an EVM address with %s is refused', (_what, text) => {
    expect(parseOnchainAddress(text, 'evm')).toBeNull()
  })

  it('of unknown networks are compared exactly', () => {
    const text = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
    expect(parseOnchainAddress(text, 'other')).toEqual({ address: text, key: text })
    expect(parseOnchainAddress('a b', 'other')).toBeNull()
    expect(parseOnchainAddress('x'.repeat(129), 'other')).toBeNull()
  })

  it('hash keys ignore the case of hexadecimal digits only', () => {
    expect(txHashKey('0xABCDEF')).toBe('0xabcdef')
    expect(txHashKey('5UfDuX')).toBe('5UfDuX')
  })
})

describe('Bitcoin addresses', () => {
  it.each([
    ['P2PKH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['P2PKH of a hash of zeros', '1111111111111111111114oLvT2'],
    ['P2SH', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
    ['P2WPKH', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['version 1, 40 bytes', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'],
    ['version 16, 2 bytes', 'bc1sw50qgdz25j'],
    ['version 2, 16 bytes', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
    ['P2TR', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  ])('%s', (_what, address) => {
    expect(parseOnchainAddress(address, 'bitcoin')).toEqual({ address, key: address })
  })

  it('are shown and compared in lower case where case has no meaning (BIP-173)', () => {
    for (const text of ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'BC1SW50QGDZ25J']) {
      const address = text.toLowerCase()
      expect(parseOnchainAddress(text, 'bitcoin')).toEqual({ address, key: address })
    }
  })

  /** The invalid vectors of BIP-350 first, then those of BIP-173 that it leaves out. */
  it.each([
    ['another human-readable part', 'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut'],
    ['bech32 for version 1', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'],
    ['bech32 for version 2', 'tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf'],
    ['bech32 for version 16', 'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL'],
    ['bech32m for version 0', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
    ['bech32m for version 0 of a test network', 'tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47'],
    ['a character outside the alphabet', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'],
    ['version 17', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R'],
    ['a program of 1 byte', 'bc1pw5dgrnzv'],
    ['a program of 41 bytes', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav'],
    ['a program of 16 bytes for version 0', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
    ['mixed case of a test network', 'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq'],
    ['padding of more than 4 bits', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf'],
    ['padding that is not zero', 'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j'],
    ['no data', 'bc1gmk9yu'],
    ['a wrong checksum', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
    ['padding of 8 bits', 'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du'],
    ['mixed case', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4'],
    ['P2WSH of a test network', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7'],
    ['P2WPKH of a local network', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
    ['P2PKH of a test network', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
    ['P2SH of a test network', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
    ['a base58 checksum that is wrong', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb'],
    ['a base58 character that does not exist', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0'],
    ['base58 in lower case', '1a1zp1ep5qgefi2dmptftl5slmv7divfna'],
    ['a private key', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
    ['an address of Tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['an address of Ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['white space', ' 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['nothing', ''],
  ])('with %s are refused', (_what, text) => {
    expect(parseOnchainAddress(text, 'bitcoin')).toBeNull()
  })
})

describe('Litecoin addresses', () => {
  it.each([
    ['P2PKH', 'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQF'],
    ['P2SH', 'MVDCJxZd4A5VUm81QmeC1qf6U7LASsr7LT'],
    ['P2WPKH', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
    ['P2WSH', 'ltc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qmu8tk5'],
    ['P2TR', 'ltc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqpj6zg2'],
  ])('%s', (_what, address) => {
    expect(parseOnchainAddress(address, 'litecoin')).toEqual({ address, key: address })
    expect(parseOnchainAddress(address, 'bitcoin')).toBeNull()
  })

  it('are shown in lower case', () => {
    const address = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'
    expect(parseOnchainAddress(address.toUpperCase(), 'litecoin')).toEqual({ address, key: address })
  })

  it.each([
    ['a wrong checksum', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8'],
    ['mixed case', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4N9'],
    ['a wrong base58 checksum', 'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQG'],
    ['the form of Bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['the P2PKH of Bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['the P2SH of Bitcoin', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
    ['the form of a local network', 'rltc1qcr8te4kr609gcawutmrza0j4xv80jy8z8dz7lc'],
    [
      'the form of an extension block',
      'ltcmweb1qq20e2arnhvxw97katjkmsd35agw3capxjkrkh7dk8d30rczm8ypxuq329nwh2twmchhqn3jqh7ua4ps539f6aazh79jy76urqht4qa59ts3at6gf',
    ],
  ])('with %s are refused', (_what, text) => {
    expect(parseOnchainAddress(text, 'litecoin')).toBeNull()
  })
})

it('a taproot address whose program is not a point of the curve is refused', () => {
  expect(parseOnchainAddress('bc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsyjer9e', 'bitcoin')).toBeNull()
})

describe('Tron addresses', () => {
  it.each(['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'])('%s', (address) => {
    expect(parseOnchainAddress(address, 'tron')).toEqual({ address, key: address })
  })

  it.each([
    ['a wrong checksum', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
    ['another case', 'tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t'],
    ['the version byte of Bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['hexadecimal digits', '41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
    ['nothing', ''],
  ])('with %s are refused', (_what, text) => {
    expect(parseOnchainAddress(text, 'tron')).toBeNull()
  })
})

describe('Solana addresses', () => {
  it.each([
    '11111111111111111111111111111111',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  ])('%s', (address) => {
    expect(parseOnchainAddress(address, 'solana')).toEqual({ address, key: address })
  })

  it.each([
    ['31 bytes', '1111111111111111111111111111111'],
    ['33 bytes', '111111111111111111111111111111111'],
    ['64 bytes', '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'],
    ['a character that does not exist', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5D0'],
    ['44 characters above 32 bytes', 'z'.repeat(44)],
    ['nothing', ''],
  ])('of %s are refused', (_what, text) => {
    expect(parseOnchainAddress(text, 'solana')).toBeNull()
  })
})

describe('isMistyped', () => {
  it.each<[string, NetworkType, boolean]>([
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed', 'evm', true],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'evm', false],
    ['0x5aAeb6', 'evm', false],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'bitcoin', true],
    ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T5', 'bitcoin', true],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'bitcoin', false],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'bitcoin', true],
    ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8', 'litecoin', true],
    ['LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQG', 'litecoin', true],
    ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u', 'tron', true],
    // Of another network, in mixed case, of an unknown version of programs, or with a program that is not a point.
    ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'bitcoin', false],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T5', 'bitcoin', false],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'bitcoin', false],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'litecoin', false],
    ['bc1pw5dgrnzv', 'bitcoin', false],
    ['nonsense', 'bitcoin', false],
    ['anything', 'other', false],
    ['So11111111111111111111111111111111111111113', 'solana', false],
  ])('%s on %s: %s', (text, type, expected) => expect(isMistyped(text, type)).toBe(expected))
})

describe('isFaultyAddress', () => {
  it.each([
    ['a wrong checksum of Bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
    ['a character that bech32 does not have', 'bc1qw508d6qejxtdg4y5r3zarvaryoc5xw7kv8f3t4'],
    ['mixed case', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4'],
    ['a wrong checksum of Litecoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8'],
    ['a wrong checksum in base58', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb'],
    ['a wrong checksum in base58 of Litecoin', 'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQG'],
    ['a wrong checksum of Tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
    ['a wrong checksum of EIP-55', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'],
    ['a taproot program that is no point', 'bc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpqqenm'],
  ])('%s is not an address', (_fault, text) => expect(isFaultyAddress(text)).toBe(true))

  it.each([
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    'So11111111111111111111111111111111111111112',
    'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    'anything else',
  ])('%s may be an address', (text) => expect(isFaultyAddress(text)).toBe(false))
})

describe('contracts', () => {
  it('are compared like addresses, except on Bitcoin, which has no contracts', () => {
    expect(parseContract('840000:1', 'bitcoin')).toEqual({ address: '840000:1', key: '840000:1' })
    expect(parseContract('840000:1', 'tron')).toBeNull()
    expect(parseContract('0xDAC17F958D2EE523A2206206994597C13D831EC7', 'evm')?.key).toBe(
      '0xdac17f958d2ee523a2206206994597c13d831ec7',
    )
  })
})
