import { describe, expect, test } from 'vitest'
import { accountOf } from '../chains/evm/account.ts'
import { anvilMnemonic } from '../testing/test-token.ts'
import { parseDerivationPath, toBip32Path } from './derivation-path.ts'
import { privateKeyAt, rootOf } from './keyring.ts'

describe('the path notation', () => {
  test.each([
    ['m/44/60/0/0/0', "m/44'/60'/0'/0/0"],
    ['m/44/60/7', "m/44'/60'/7'"],
    ['m/44/195/2147483647/1/2/3', "m/44'/195'/2147483647'/1/2/3"],
  ])('%s is %s', (path, bip32) => {
    const parsed = parseDerivationPath(path)
    expect('fault' in parsed ? parsed.fault : toBip32Path(parsed)).toBe(bip32)
  })

  test.each([
    ['', 'must start with m/'],
    ['44/60/0', 'must start with m/'],
    ['m/49/60/0', 'must have the purpose 44'],
    ['m/44', 'must have a coin type and at least one index'],
    ['m/44/60', 'must have a coin type and at least one index'],
    ["m/44/60'/0", 'must be whole numbers without leading zeros or marks'],
    ['m/44/60/', 'must be whole numbers without leading zeros or marks'],
    ['m/44/60/00', 'must be whole numbers without leading zeros or marks'],
    ['m/44/60/-1', 'must be whole numbers without leading zeros or marks'],
    ['m/44/60/1e3', 'must be whole numbers without leading zeros or marks'],
    ['m/44/60/2147483648', 'has a number above 2147483647'],
    [`m/44/60${'/1'.repeat(17)}`, 'must have at most 16 indexes'],
  ])('%s is refused', (path, fault) => {
    expect(parseDerivationPath(path)).toEqual({ fault })
  })
})

test.each([
  ['m/44/60/0/0/0', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
  ['m/44/60/0/0/1', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
])('the well-known test mnemonic has at %s the address %s', async (path, address) => {
  const parsed = parseDerivationPath(path)
  if ('fault' in parsed) throw new Error(parsed.fault)
  expect(accountOf(privateKeyAt(await rootOf(anvilMnemonic), toBip32Path(parsed))).address).toBe(address)
})
