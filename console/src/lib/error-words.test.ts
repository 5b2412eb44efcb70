import { ConnectionError } from '@strongroom/sdk'
import { SigningError } from '@strongroom/sdk/signing'
import { describe, expect, it } from 'vitest'
import { messageOf } from './error-words.ts'
import { said } from './language.ts'

describe('the message about an error', () => {
  it.each([
    [
      new DOMException(
        'The operation either timed out or was not allowed. See: https://www.w3.org/TR/webauthn-2/#sctn-privacy-considerations-client.',
        'NotAllowedError',
      ),
    ],
    [new DOMException('An attempt was made to use an object', 'InvalidStateError')],
    [new TypeError("Cannot read properties of undefined (reading 'id')")],
    [new SigningError('vaultId', 'is another vault')],
    [new ConnectionError('fetch failed: ECONNREFUSED 127.0.0.1:8420')],
    ['a text'],
  ])('is in words of this page, without links, fields and texts of the browser: %s', (error) => {
    const words = messageOf(error)
    expect(words).toMatch(/^[A-Z][^:/]*(: [^:/]+)?\.$/)
    expect(words).not.toContain(String((error as Error).message ?? error))
  })

  it('is the text of this page, where it threw one', () => {
    expect(messageOf(new Error('This text contains no signatures.'))).toBe('This text contains no signatures.')
  })

  it('is the text of the service, without the ids of what it is about', () => {
    const text = 'was used by row 3 of the payout cmi8h2k1p0a1b2c3d4e5f6g7h'
    expect(said(text)).toBe('was used by row 3 of the payout …')
  })
})
