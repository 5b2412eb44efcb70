import { randomBytes } from 'node:crypto'
import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { toEip55 } from './eip55.ts'

test.each([
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
])('%s is the form with a checksum of the same address in any case', (address) => {
  expect(toEip55(address)).toBe(address)
  expect(toEip55(address.toLowerCase())).toBe(address)
  expect(toEip55(`0x${address.slice(2).toUpperCase()}`)).toBe(address)
})

test('the checksum of an address in an authority is the checksum of EVM networks', () => {
  for (let count = 0; count < 200; count += 1) {
    const address = `0x${randomBytes(20).toString('hex')}` as const
    expect(toEip55(address)).toBe(getAddress(address))
  }
})
