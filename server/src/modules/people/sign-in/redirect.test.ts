import { describe, expect, it } from 'vitest'
import { isOwnPath } from './redirect.ts'

describe('T45 isOwnPath', () => {
  it.each(['/', '/vaults', '/vaults/main?x=1&y=%2F..%2F#part', '/a//b', '/a..b/.c', '/v/treasury/%C3%A4'])(
    'accepts %j',
    (path) => {
      expect(isOwnPath(path)).toBe(true)
    },
  )

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
    '/..//example.org',
    '/.//example.org',
    '/a/../..//example.org',
    '/%2e%2e//example.org',
    '/.%2E//example.org',
    '/%252e%252e//example.org',
    '/..%2f/example.org',
    '/..%2F%2Fexample.org',
    '/%2Fexample.org',
    '/%252f%252fexample.org',
    '/%5Cexample.org',
    '/..%5c%5cexample.org',
    '/%255cexample.org',
    '/a/..',
  ])('refuses %j', (path) => {
    expect(isOwnPath(path)).toBe(false)
  })
})
