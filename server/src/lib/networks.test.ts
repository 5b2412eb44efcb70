import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNetwork, isWithin } from './networks.ts'

describe('a network', () => {
  it.each(['203.0.113.0/24', '203.0.113.7/32', '0.0.0.0/0', '2001:db8::/32', '2001:db8::1/128', '::/0'])(
    'is %s',
    (text) => expect(isNetwork(text)).toBe(true),
  )

  it.each([
    '203.0.113.7',
    '203.0.113.7/24',
    '203.0.113.0/33',
    '203.0.113.0/024',
    '203.0.113.0/-1',
    '203.0.113.0/24 ',
    '010.0.0.0/8',
    '10/8',
    '10.0/16',
    '0x0a.0.0.0/8',
    '2001:db8::1/64',
    '2001:db8::/129',
    'fe80::%eth0/64',
    '::ffff:203.0.113.0/120',
    '',
    '/',
    'example.org/24',
  ])('is not "%s"', (text) => expect(isNetwork(text)).toBe(false))
})

describe('an address', () => {
  it.each([
    ['203.0.113.255', '203.0.113.0/24', true],
    ['203.0.114.0', '203.0.113.0/24', false],
    ['::ffff:203.0.113.9', '203.0.113.0/24', true],
    ['2001:db8:0:0:ffff::1', '2001:db8::/64', true],
    ['2001:db8:0:1::1', '2001:db8::/64', false],
    ['203.0.113.9', '::/0', false],
    ['2001:db8::1', '0.0.0.0/0', false],
    ['203.0.113.9:443', '0.0.0.0/0', false],
    ['unknown', '0.0.0.0/0', false],
    ['', '0.0.0.0/0', false],
  ])('%s is in %s: %s', (ip, network, within) => expect(isWithin(ip, [network])).toBe(within))

  it('is in a network exactly if its first bits are those of the network', () => {
    const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })
    const bitsOf = (address: number[]) => address.map((octet) => octet.toString(2).padStart(8, '0')).join('')
    fc.assert(
      fc.property(
        octets,
        octets,
        fc.integer({ min: 0, max: 32 }),
        fc.integer({ min: 0, max: 32 }),
        (a, b, prefix, alike) => {
          // The second address begins like the first, so that both answers occur.
          const bits = bitsOf(a).slice(0, alike) + bitsOf(b).slice(alike)
          const other = [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join('.')
          const kept = bitsOf(a).slice(0, prefix).padEnd(32, '0')
          const first = [0, 8, 16, 24].map((at) => Number.parseInt(kept.slice(at, at + 8), 2)).join('.')
          const isAlike = bitsOf(a).slice(0, prefix) === bits.slice(0, prefix)
          expect(isWithin(other, [`${first}/${prefix}`])).toBe(isAlike)
        },
      ),
    )
  })
})
