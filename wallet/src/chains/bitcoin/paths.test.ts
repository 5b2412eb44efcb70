import { HDKey } from '@scure/bip32'
import { describe, expect, it } from 'vitest'
import { parseDerivationPath } from '../../keys/derivation-path.ts'
import { rootOf } from '../../keys/keyring.ts'
import { addressOf } from './addresses.ts'
import { bitcoin, litecoin } from './parameters.ts'
import { checksumOf, descriptorOf, toBip84Path } from './paths.ts'

const mnemonic = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
const root = await rootOf(mnemonic)

function read(path: string) {
  const parsed = parseDerivationPath(path)
  if ('fault' in parsed) throw new Error(parsed.fault)
  return parsed
}

describe('paths', () => {
  it.each([
    ['m/44/0/0/0/0', "m/84'/0'/0'/0/0", 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
    ['m/44/0/0/0/1', "m/84'/0'/0'/0/1", 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
    ['m/44/0/0/1/0', "m/84'/0'/0'/1/0", 'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el'],
  ])('of BIP-84 and their addresses follow from %s', (name, path, address) => {
    expect(toBip84Path(read(name))).toBe(path)
    expect(addressOf(root.derive(path).publicKey!, bitcoin)).toBe(address)
  })

  it('with fewer levels are hardened up to the account', () => {
    expect(toBip84Path(read('m/44/2/0/7'))).toBe("m/84'/2'/0'/7")
    expect(toBip84Path(read('m/44/2/7'))).toBe("m/84'/2'/7'")
  })

  it('below an account give the same 1,000 addresses from its public key as from its private key', () => {
    for (const parameters of [bitcoin, litecoin]) {
      const signing = root.derive(toBip84Path({ coinType: parameters.coinType, indexes: [3, 1] }))
      const xpub = root.derive(toBip84Path({ coinType: parameters.coinType, indexes: [3] })).publicExtendedKey
      const shown = HDKey.fromExtendedKey(xpub).deriveChild(1)
      for (let index = 0; index < 500; index += 1) {
        const [fromPublic, fromPrivate] = [shown, signing].map((parent) => parent.deriveChild(index).publicKey!)
        expect(addressOf(fromPublic!, parameters)).toBe(addressOf(fromPrivate!, parameters))
      }
    }
  })
})

describe('descriptors', () => {
  it('have the checksum of BIP-380', () => {
    expect(checksumOf('raw(deadbeef)')).toBe('89f8spxm')
    expect(() => checksumOf('raw(Ü)')).toThrow('does not permit')
  })

  it('name the account, the public key and the levels below it', () => {
    const { publicExtendedKey: xpub } = root.derive("m/84'/2'/0'")
    const account = { xpub, fingerprint: root.fingerprint }
    const [text, checksum] = descriptorOf(account, read('m/44/2/0/0/5')).split('#')
    expect(text).toBe(`wpkh([73c5da0a/84h/2h/0h]${xpub}/0/*)`)
    expect(checksum).toBe(checksumOf(text!))
    expect(descriptorOf(account, read('m/44/2/0/5'))).toContain(`${xpub}/*)#`)
    expect(descriptorOf(account, read('m/44/2/0'))).toContain(`${xpub})#`)
  })
})
