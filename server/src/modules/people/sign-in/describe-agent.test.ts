import { describe, expect, it } from 'vitest'
import { describeAgent } from './devices.ts'

describe('a User-Agent header', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128 on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
      'Chrome 126 on Windows',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87',
      'Edge 126 on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 ' +
        'Mobile/15E148 Safari/604.1',
      'Safari 17 on iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
      'Safari 17 on macOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
      'Chrome 126 on Android',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['okhttp/4.9.3 (extra words)', 'okhttp/4.9.3'],
    ['node', 'node'],
    [null, 'an unknown program'],
    ['', 'an unknown program'],
    ['evil.example.org/login', 'an unknown program'],
    ['https://evil.example.org', 'an unknown program'],
    ['Call-us/now', 'an unknown program'],
    ['<b>bold</b>', 'an unknown program'],
    [`${'a'.repeat(600)}/1`, 'an unknown program'],
    [`curl/1${'9'.repeat(600)}`, 'an unknown program'],
  ])('%j is %s', (userAgent, expected) => {
    expect(describeAgent(userAgent)).toBe(expected)
  })
})
