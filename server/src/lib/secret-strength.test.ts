import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { secretBitsMin } from './limits.ts'
import { estimateSecretBits } from './secret-strength.ts'

describe('T70 the strength of a secret', () => {
  it.each([
    ['k'.repeat(32)],
    ['ab'.repeat(20)],
    ['changeme'.repeat(4)],
    ['change-me-change-me-change-me-please'],
    ['your-secret-key-your-secret-key-1234'],
    ['0123456789abcdef0123456789abcdef'],
    ['abcdefghijklmnopqrstuvwxyz0123456789'],
    ['12345678901234567890123456789012'],
    ['deadbeef'.repeat(4)],
    ['password-password-password-password!'],
    [`whsec_${Buffer.alloc(32).toString('base64')}`],
    [`whsec_${Buffer.alloc(32, 'changeme').toString('base64')}`],
    ['strongroom-webhook-secret-for-demo'],
  ])('of %j is too little', (secret) => {
    expect(estimateSecretBits(secret)).toBeLessThan(secretBitsMin)
  })

  it('of random bytes is enough, however they are written', () => {
    for (let i = 0; i < 200; i += 1) {
      for (const secret of [
        randomBytes(32).toString('base64'),
        randomBytes(32).toString('base64url'),
        randomBytes(32).toString('hex'),
        randomBytes(18).toString('base64'),
        randomBytes(16).toString('hex'),
        `whsec_${randomBytes(24).toString('base64')}`,
      ]) {
        expect(estimateSecretBits(secret), secret).toBeGreaterThanOrEqual(secretBitsMin)
      }
    }
  })
})
