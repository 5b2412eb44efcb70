import { expect, it } from 'vitest'
import { fakeKeysOf } from '../testing/fake-account-keys.ts'
import { type AccountKey, accountPathOf, evmAddressBelow, faultOfAccountKey } from './account-key.ts'

/** The account of the mnemonic that every development chain has: `test test … junk`. */
const known = {
  network: 'ethereum',
  derivationPath: 'm/44/60/0',
  xpub: 'xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP',
  challenge: 'c',
  signature: '',
}

it.each([
  ['m/44/60/0/0/0', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'],
  ['m/44/60/0/0/1', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'],
  ['m/44/60/0/0/9', '0xa0ee7a142d267c1f36714e4a8f75612f20a79720'],
])('%s is the address %s, without a private key', (path, address) => {
  expect(evmAddressBelow(known, path)).toBe(address)
})

it('agrees with the derivation from private keys, however deep', () => {
  for (let round = 0; round < 10; round += 1) {
    const keys = fakeKeysOf(`seed ${round}`)
    const account = { ...known, derivationPath: `m/44/60/${round}` }
    const key = { ...account, ...keys.show('ethereum', account.derivationPath, 'c') }
    for (const rest of ['', '/0', '/2147483647', `/${round}/${round * 7919}/3`]) {
      const path = account.derivationPath + rest
      expect(evmAddressBelow(key, path), path).toBe(keys.address(path).toLowerCase())
    }
  }
})

it('derives nothing of another account', () => {
  for (const path of ['m/44/60/1/0', 'm/44/60', 'm/44/61/0/0', 'm/44/60/00/0']) {
    expect(() => evmAddressBelow(known, path), path).toThrow('is not below')
  }
  expect(accountPathOf('m/44/60')).toBeNull()
})

it('names the fault of a key', () => {
  const keys = fakeKeysOf('vault')
  const place = { network: 'ethereum', derivationPath: 'm/44/60/0', challenge: 'c' }
  const { key: walletKey, ...shown } = keys.show('ethereum', 'm/44/60/0', 'c')
  const key: AccountKey = { ...place, ...shown }
  expect(faultOfAccountKey(key, walletKey)).toBeNull()
  const changed: Partial<AccountKey>[] = [
    { network: 'polygon' },
    { derivationPath: 'm/44/60/1' },
    { challenge: 'd' },
    { xpub: keys.show('ethereum', 'm/44/60/1', 'c').xpub },
    { signature: '' },
    { signature: fakeKeysOf('other').show('ethereum', 'm/44/60/0', 'c').signature },
  ]
  for (const change of changed)
    expect(faultOfAccountKey({ ...key, ...change }, walletKey)).toBe('its signature is wrong')
  for (const other of ['', 'MCowBQYDK2VwAyEA', `${walletKey}=`, Buffer.alloc(44).toString('base64url')]) {
    expect(faultOfAccountKey(key, other)).toBe('the key of the wallet service is no Ed25519 key')
  }
})

it('refuses a signed key that does not belong to the account', () => {
  const keys = fakeKeysOf('vault')
  const signs = (derivationPath: string, xpub: string) => {
    const shown = keys.show('ethereum', derivationPath, 'c', xpub)
    return faultOfAccountKey({ network: 'ethereum', derivationPath, challenge: 'c', ...shown }, shown.key)
  }
  const { xpub } = keys.show('ethereum', 'm/44/60/0', 'c')
  expect(signs('m/44/60/0', xpub)).toBeNull()
  expect(signs('m/44/60/1', xpub)).toBe('it is the key of another path')
  expect(signs('m/44/60/0', keys.show('ethereum', 'm/44/60/0/0', 'c').xpub)).toBe('it is the key of another path')
  const secret = `xprv${xpub.slice(4)}`
  for (const none of ['', 'xpub', secret, `${xpub}1`, xpub.replace(/.$/, (last) => (last === '1' ? '2' : '1'))]) {
    expect(signs('m/44/60/0', none), none).toBe('it is no extended public key')
  }
})
