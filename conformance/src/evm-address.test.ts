import { expect, it } from 'vitest'
import { breakChecksum, isChecksummed, isEvmAddress } from './evm-address.ts'

/** The examples of EIP-55. */
const examples = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

it.each(examples)('%s has its checksum, and none with another case of one letter', (address) => {
  expect([isChecksummed(address), isEvmAddress(address)]).toEqual([true, true])
  expect(isChecksummed(breakChecksum(address))).toBe(false)
})

it('an address in mixed case must have its checksum, one in a single case need not', () => {
  const address = examples[4]!
  expect(isEvmAddress(breakChecksum(address))).toBe(false)
  expect(isEvmAddress(address.toLowerCase())).toBe(true)
  expect(isEvmAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(true)
  expect(isChecksummed(address.toLowerCase())).toBe(false)
})

it.each(['', '0x', '0x1', `${examples[2]}0`, examples[2]!.slice(2), `0x${'g'.repeat(40)}`])(
  '"%s" is not an address',
  (text) => {
    expect([isChecksummed(text), isEvmAddress(text)]).toEqual([false, false])
  },
)
