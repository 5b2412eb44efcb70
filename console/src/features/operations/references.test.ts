import { describe, expect, it } from 'vitest'
import { explorerUrl } from './explorer.ts'
import { readReference } from './operation-reference.ts'

const id = 'cmwru0e8q6kwjy2qtndy79h46'

describe('a pasted operation', () => {
  it.each([
    [`https://vault.example.org/v/treasury/deposits/${id}`, 'deposit'],
    [`/v/treasury/transfers/${id}?from=mail`, 'transfer'],
    [`deposit ${id}`, 'deposit'],
    [id, 'transfer'],
    [` ${id} `, 'transfer'],
  ])('is recognised in %j', (text, type) => {
    expect(readReference(text, 'treasury', 'transfer')).toEqual({ code: 'treasury', type, id })
  })

  it.each([`/v/other/transfers/${id}`, 'javascript:alert(1)', '', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'])(
    'is not recognised in %j',
    (text) => {
      expect(readReference(text, 'treasury', 'transfer')).toBeNull()
    },
  )
})

describe('the explorer of a network', () => {
  it.each([
    ['https://scan.example.org/tx/{hash}', 'https://scan.example.org/tx/0xab'],
    ['http://localhost:4000/tx/{hash}', 'http://localhost:4000/tx/0xab'],
    ['http://scan.example.org/tx/{hash}', null],
    ['javascript:alert("{hash}")', null],
    ['http://localhost.example.org/{hash}', null],
    [null, null],
  ])('has a link only over HTTPS, or over HTTP on localhost: %s', (explorerTxUrl, url) => {
    expect(explorerUrl({ explorerTxUrl }, '0xab')).toBe(url)
  })

  it('has no link without a network', () => {
    expect(explorerUrl(null, '0xab')).toBeNull()
  })
})
