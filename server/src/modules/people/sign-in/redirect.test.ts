import { describe, expect, it } from 'vitest'
import { isOwnPath } from './redirect.ts'

describe('T45 isOwnPath', () => {
  it.each(['/', '/vaults', '/vaults/main?x=1&y=%2F#part', '/a//b', '/%5Cexample.org'])('accepts %j', (path) => {
    expect(isOwnPath(path)).toBe(true)
  })

  it.each([
    '',
    'vaults',
    '//example.org',
    '///example.org',
    '/\\example.org',
    '/a\\b',
    '\\/example.org',
    '/\t/example.org',
    '/\n/example.org',
    '/a\r\nset-cookie: x=1',
    '/\u0000',
    ' /a',
    '/a b',
    '/ä',
    'https://example.org',
    'javascript:alert(1)',
    '@example.org',
    '.example.org',
  ])('refuses %j', (path) => {
    expect(isOwnPath(path)).toBe(false)
  })
})
