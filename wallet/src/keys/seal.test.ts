import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { seal, stretchPassphrase, unseal } from './seal.ts'

const key = randomBytes(32)

test('a sealed text opens with its key and its binding only', () => {
  const sealed = seal(key, 'client 1', 'twelve words')
  expect(unseal(key, 'client 1', sealed)).toBe('twelve words')
  expect(sealed.toString('latin1')).not.toContain('twelve')
  expect(() => unseal(key, 'client 2', sealed)).toThrow()
  expect(() => unseal(randomBytes(32), 'client 1', sealed)).toThrow()
})

test('the same text is sealed differently every time', () => {
  expect(seal(key, 'a', 'text').equals(seal(key, 'a', 'text'))).toBe(false)
})

test('every changed or missing byte is noticed', () => {
  const sealed = seal(key, 'a', 'text')
  for (let position = 0; position < sealed.length; position++) {
    const changed = Buffer.from(sealed)
    changed[position]! ^= 1
    expect(() => unseal(key, 'a', changed)).toThrow()
    expect(() => unseal(key, 'a', sealed.subarray(0, position))).toThrow()
  }
})

test('scrypt agrees with the test vector of RFC 7914, section 12', async () => {
  const stretched = await stretchPassphrase('pleaseletmein', Buffer.from('SodiumChloride'), 16384)
  expect(stretched.toString('hex')).toBe('7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2')
})
