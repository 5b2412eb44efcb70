import { createPublicKey } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { expect, test } from 'vitest'
import { attestationKeyOf } from './keyring.ts'

/** The master key of the test vectors of BIP-85; the 32 bytes were computed by another implementation, from its text. */
const master =
  'xprv9s21ZrQH143K2LBWUUQRFXhucrQqBpKdRRxNVq2zBqsx8HVqFk2uYo8kmbaLLHRdqtQpUm98uKfu3vca1LqdGhUtyoFnCNkfmXRyPXLjbKb'

test('the key that signs is BIP-85, 32 bytes of hex at index 0', () => {
  const key = attestationKeyOf(HDKey.fromExtendedKey(master))
  expect(key.export({ format: 'jwk' }).d).toBe(
    Buffer.from('ea3ceb0b02ee8e587779c63f4b7b3a21e950a213f1ec53cab608d13e8796e6dc', 'hex').toString('base64url'),
  )
  expect(createPublicKey(key).asymmetricKeyType).toBe('ed25519')
})
