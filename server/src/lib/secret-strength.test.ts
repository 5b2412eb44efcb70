import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { secretBitsMin } from './limits.ts'
import { estimateSecretBits } from './secret-strength.ts'

/** Bytes that look random and are the same at every run. */
const drawnBytes = (length: number, seed: string) =>
  createHash('shake256', { outputLength: length }).update(seed).digest()

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
        drawnBytes(32, `a${i}`).toString('base64'),
        drawnBytes(32, `b${i}`).toString('base64url'),
        drawnBytes(32, `c${i}`).toString('hex'),
        drawnBytes(18, `d${i}`).toString('base64'),
        drawnBytes(16, `e${i}`).toString('hex'),
        `whsec_${drawnBytes(24, `f${i}`).toString('base64')}`,
      ]) {
        expect(estimateSecretBits(secret), secret).toBeGreaterThanOrEqual(secretBitsMin)
      }
    }
  })
})
