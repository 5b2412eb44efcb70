import { describe, expect, it } from 'vitest'
import { faultOfExplorer } from './explorer-template.ts'

describe('the template of a link to a block explorer', () => {
  it.each([
    ['https://etherscan.io/tx/{hash}', null],
    ['https://explorer.example.org:8443/#/tx/{hash}?tab=1', null],
    ['https://explorer.example.org/search?q={hash}', null],
    ['https://explorer.example.org/tx/', 'must contain {hash} once'],
    ['https://explorer.example.org/{hash}/{hash}', 'must contain {hash} once'],
    ['https://explorer.example.org/{address}/{hash}', 'contains characters that a URL must not contain'],
    ['https://explorer.example.org/"onclick=/{hash}', 'contains characters that a URL must not contain'],
    ['https://explorer.example.org\\@evil.example/{hash}', 'contains characters that a URL must not contain'],
    ['https://bücher.example/{hash}', 'contains characters that a URL must not contain'],
    ['/tx/{hash}', 'is not a URL'],
    ['https://{hash}', 'must contain {hash} after the host'],
    ['https://{hash}.example.org/', 'must contain {hash} after the host'],
    ['https://{hash}@example.org/', 'must not contain a user name or a password'],
    ['https://user:secret@example.org/{hash}', 'must not contain a user name or a password'],
    ['http://explorer.example.org/{hash}', 'must begin with https://'],
    ['http://127.0.0.1:4000/tx/{hash}', 'must begin with https://'],
    ['javascript:alert(1)//{hash}', 'must begin with https://'],
    ['data:text/html,{hash}', 'must begin with https://'],
  ])('%s: %s', (template, fault) => {
    expect(faultOfExplorer(template, '{hash}', { isDemo: false })).toBe(fault)
  })

  it('may name this machine over http in demo mode only', () => {
    expect(faultOfExplorer('http://127.0.0.1:4000/tx/{hash}', '{hash}', { isDemo: true })).toBeNull()
    expect(faultOfExplorer('http://explorer.example.org/{hash}', '{hash}', { isDemo: true })).not.toBeNull()
    expect(faultOfExplorer('http://localhost.evil.example/{hash}', '{hash}', { isDemo: true })).not.toBeNull()
  })
})
