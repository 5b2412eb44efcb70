import { describe, expect, it } from 'vitest'
import { addressOf, addressOfScript, dustOf, readAddress, scriptOf } from './addresses.ts'
import { bitcoin, litecoin } from './parameters.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('addresses of Bitcoin', () => {
  it.each([
    ['P2PKH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac', 546n],
    ['P2SH', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG', 'a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87', 540n],
    ['P2WPKH', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '0014751e76e8199196d454941c45d1b3a323f1433bd6', 294n],
    [
      'P2WSH',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
      330n,
    ],
    [
      'taproot',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
      330n,
    ],
  ])('%s has its script, its dust and one spelling', (_kind, address, script, dust) => {
    const read = readAddress(address, bitcoin)!
    expect([read.address, hex(read.script)]).toEqual([address, script])
    expect(addressOfScript(read.script, bitcoin)).toBe(address)
    expect(dustOf(read.script, bitcoin)).toBe(dust)
    expect(dustOf(read.script, litecoin)).toBe(dust * 10n)
  })

  it('in upper case are written in lower case (BIP-173)', () => {
    const read = readAddress('BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', bitcoin)
    expect(read?.address).toBe('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')
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
    ['a wrong base58 checksum', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb'],
    ['a private key', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
    ['an address of Litecoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
    ['white space', ' 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['nothing', ''],
  ])('with %s are refused', (_fault, text) => {
    expect(readAddress(text, bitcoin)).toBeNull()
  })

  it.each([
    ['taproot of a program that is not a point', 'bc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsyjer9e'],
    ['taproot of 40 bytes', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'],
    ['an output that everybody can spend', 'bc1pfeessrawgf'],
    ['version 16', 'bc1sw50qgdz25j'],
    ['version 2', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
  ])('that lose what they are paid are refused: %s', (_kind, text) => {
    expect(readAddress(text, bitcoin)).toBeNull()
  })
})

describe('addresses of Litecoin', () => {
  const script = Buffer.from('0014751e76e8199196d454941c45d1b3a323f1433bd6', 'hex')

  it('have their own prefixes', () => {
    const address = addressOfScript(script, litecoin)!
    expect(address.startsWith('ltc1q')).toBe(true)
    expect(hex(readAddress(address, litecoin)!.script)).toBe(hex(script))
    const scripts = [
      '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac',
      'a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87',
    ]
    const legacy = scripts.map((text) => addressOfScript(Buffer.from(text, 'hex'), litecoin)!)
    expect(legacy.map((text) => text[0])).toEqual(['L', 'M'])
    expect(legacy.map((text) => hex(readAddress(text, litecoin)!.script))).toEqual(scripts)
  })

  it.each([
    ['Bitcoin, bech32', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['Bitcoin, P2PKH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['Bitcoin or Litecoin, P2SH', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
    ['a local network', 'rltc1qcr8te4kr609gcawutmrza0j4xv80jy8z8dz7lc'],
    [
      'an extension block',
      'ltcmweb1qq20e2arnhvxw97katjkmsd35agw3capxjkrkh7dk8d30rczm8ypxuq329nwh2twmchhqn3jqh7ua4ps539f6aazh79jy76urqht4qa59ts3at6gf',
    ],
  ])('of %s are refused', (_network, text) => {
    expect(readAddress(text, litecoin)).toBeNull()
  })
})

describe('own addresses', () => {
  it('are P2WPKH of the public key', () => {
    const publicKey = Buffer.from('0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c', 'hex')
    expect(addressOf(publicKey, bitcoin)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')
    expect(addressOfScript(scriptOf(publicKey), bitcoin)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu')
    expect(addressOfScript(scriptOf(publicKey), litecoin)).toBe(addressOf(publicKey, litecoin))
  })

  it('a script without an address has none', () => {
    expect(addressOfScript(Buffer.from('6a0568656c6c6f', 'hex'), bitcoin)).toBeNull()
    expect(addressOfScript(Buffer.from('51024e73', 'hex'), bitcoin)).toBeNull()
    expect(addressOfScript(Buffer.alloc(0), bitcoin)).toBeNull()
  })
})
