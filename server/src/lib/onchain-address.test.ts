import { describe, expect, it } from 'vitest'
import { parseOnchainAddress, txHashKey } from './onchain-address.ts'

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

  it('of other networks are compared exactly', () => {
    const text = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
    expect(parseOnchainAddress(text, 'bitcoin')).toEqual({ address: text, key: text })
    expect(parseOnchainAddress('a b', 'other')).toBeNull()
    expect(parseOnchainAddress('x'.repeat(129), 'other')).toBeNull()
  })

  it('hash keys ignore the case of hexadecimal digits only', () => {
    expect(txHashKey('0xABCDEF')).toBe('0xabcdef')
    expect(txHashKey('5UfDuX')).toBe('5UfDuX')
  })
})
