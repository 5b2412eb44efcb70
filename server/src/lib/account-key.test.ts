import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { expect, it } from 'vitest'
import { fakeKeysOf } from '../testing/fake-account-keys.ts'
import { type AccountKey, accountPathOf, addressBelow, faultOfAccountKey, signedTextOf } from './account-key.ts'

/** The account of the mnemonic that every development chain has: `test test … junk`. */
const known: AccountKey = {
  network: 'ethereum',
  type: 'evm',
  script: null,
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
  expect(addressBelow(known, path)).toBe(address)
})

/** The account `m/84'/0'/0'` of BIP-84, whose version bytes are those of BIP-32 here. */
const zpub =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs'
const base58check = createBase58check(sha256)
const versioned = base58check.decode(zpub)
versioned.set([0x04, 0x88, 0xb2, 0x1e])
const ofBip84: AccountKey = {
  ...known,
  network: 'bitcoin',
  type: 'bitcoin',
  script: 'p2wpkh',
  derivationPath: 'm/44/0/0',
  xpub: base58check.encode(versioned),
}

it.each([
  ['m/44/0/0/0/0', 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
  ['m/44/0/0/0/1', 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
  ['m/44/0/0/1/0', 'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el'],
])('%s is the address %s of BIP-84', (path, address) => {
  expect(addressBelow(ofBip84, path)).toBe(address)
})

it.each([
  ['evm', 60],
  ['bitcoin', 0],
  ['litecoin', 2],
] as const)('%s addresses agree with the derivation from private keys, at any depth', (type, coinType) => {
  for (let round = 0; round < 10; round += 1) {
    const keys = fakeKeysOf(`seed ${round}`)
    const account = { ...known, network: type, type, derivationPath: `m/44/${coinType}/${round}` }
    const key = { ...account, ...keys.show(type, account.derivationPath, 'c') }
    for (const rest of ['', '/0', '/2147483647', `/${round}/${round * 7919}/3`]) {
      const path = account.derivationPath + rest
      expect(addressBelow(key, path), path).toBe(keys.address(path).toLowerCase())
    }
  }
})

it('the signed text names the script on networks with several scripts, and keeps its first format on others', () => {
  const text = { network: 'n', derivationPath: 'm/44/0/1', xpub: 'x', challenge: 'c' }
  expect(signedTextOf({ ...text, script: null })).toBe('strongroom account key 1\nn\nm/44/0/1\nx\nc')
  expect(signedTextOf({ ...text, script: 'p2wpkh' })).toBe('strongroom account key 2\nn\nm/44/0/1\np2wpkh\nx\nc')
})

it('refuses a key with the script of another network', () => {
  const keys = fakeKeysOf('vault')
  const faultOf = (type: AccountKey['type'], script: string | null, path: string) => {
    const { key: walletKey, ...shown } = keys.show('n', path, 'c', undefined, script)
    const key = { network: 'n', type, derivationPath: path, challenge: 'c', ...shown, script }
    return faultOfAccountKey(key, walletKey)
  }
  expect(faultOf('litecoin', 'p2wpkh', 'm/44/2/0')).toBeNull()
  expect(faultOf('evm', null, 'm/44/60/0')).toBeNull()
  const other = 'its addresses have another script'
  for (const script of [null, 'p2tr', 'P2WPKH', '']) expect(faultOf('bitcoin', script, 'm/44/0/0')).toBe(other)
  expect(faultOf('evm', 'p2wpkh', 'm/44/60/0')).toBe(other)
  for (const type of ['solana', 'tron', 'other'] as const) expect(faultOf(type, null, 'm/44/9/0')).toBe(other)
})

it('derives no address of another account', () => {
  for (const path of ['m/44/60/1/0', 'm/44/60', 'm/44/61/0/0', 'm/44/60/00/0']) {
    expect(() => addressBelow(known, path), path).toThrow('is not below')
  }
  expect(accountPathOf('m/44/60')).toBeNull()
})

it('names the fault of a key', () => {
  const keys = fakeKeysOf('vault')
  const place = { network: 'ethereum', type: 'evm' as const, derivationPath: 'm/44/60/0', challenge: 'c' }
  const { key: walletKey, ...shown } = keys.show('ethereum', 'm/44/60/0', 'c')
  const key: AccountKey = { ...place, ...shown }
  expect(faultOfAccountKey(key, walletKey)).toBeNull()
  const changed: Partial<AccountKey>[] = [
    { network: 'polygon' },
    { derivationPath: 'm/44/60/1' },
    { challenge: 'd' },
    { script: 'p2wpkh' },
    { xpub: keys.show('ethereum', 'm/44/60/1', 'c').xpub },
    { signature: '' },
    { signature: fakeKeysOf('other').show('ethereum', 'm/44/60/0', 'c').signature },
  ]
  for (const change of changed)
    expect(faultOfAccountKey({ ...key, ...change }, walletKey)).toBe('its signature is wrong')
  for (const other of ['', 'MCowBQYDK2VwAyEA', `${walletKey}=`, Buffer.alloc(44).toString('base64url')]) {
    expect(faultOfAccountKey(key, other)).toBe('the key of the wallet service is not an Ed25519 key')
  }
})

it('refuses a signed key that does not belong to the account', () => {
  const keys = fakeKeysOf('vault')
  const signs = (derivationPath: string, xpub: string) => {
    const shown = keys.show('ethereum', derivationPath, 'c', xpub)
    const place = { network: 'ethereum', type: 'evm' as const, derivationPath, challenge: 'c' }
    return faultOfAccountKey({ ...place, ...shown }, shown.key)
  }
  const { xpub } = keys.show('ethereum', 'm/44/60/0', 'c')
  expect(signs('m/44/60/0', xpub)).toBeNull()
  expect(signs('m/44/60/1', xpub)).toBe('it is the key of another path')
  expect(signs('m/44/60/0', keys.show('ethereum', 'm/44/60/0/0', 'c').xpub)).toBe('it is the key of another path')
  const secret = `xprv${xpub.slice(4)}`
  for (const invalid of ['', 'xpub', secret, `${xpub}1`, xpub.replace(/.$/, (last) => (last === '1' ? '2' : '1'))]) {
    expect(signs('m/44/60/0', invalid), invalid).toBe('it is not an extended public key')
  }
})
