import { describe, expect, it } from 'vitest'
import type { FindChecked } from '../../lib/recipient.ts'
import { chainsOf, entriesOf, type ImportRow, judgeRows, kindOf } from './import-rows.ts'

const acme = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const alike = `0x7099${'0'.repeat(32)}79C8`
const mistyped = acme.replace('dc79C8', 'dc79c8')
const nothing = { fault: null, known: null, isFirstPayment: true, lookAlikes: [] }
const find: FindChecked = ({ network, address }) => {
  if (network !== 'ethereum') return null
  const lookAlikes = address === alike ? [{ address: acme, name: 'Acme' }] : []
  const known = address === acme ? { name: 'Acme', label: null, counterpartyId: 'c', network } : null
  return { ...nothing, address, known, lookAlikes, fault: address === mistyped ? 'wrong_checksum' : null }
}
const context = { networks: ['ethereum'], find }
const fresh = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

function row(part: Partial<ImportRow> = {}): ImportRow {
  const empty = { label: '', description: '', number: 2, refusal: null, isDone: false }
  return { name: 'New', kind: 'company', network: 'ethereum', address: fresh, ...empty, ...part }
}

describe('judgeRows', () => {
  it.each([
    ['good', {}],
    ['good', { network: '', kind: '' }],
    ['good', { network: 'Ethereum', kind: 'Company' }],
    ['no name', { name: '' }],
    ['no kind', { kind: 'friend' }],
    ['no network', { network: 'bitcoin' }],
    ['no address', { address: '0x12' }],
    ['known', { address: acme }],
    ['look-alike', { address: alike }],
    ['wrong checksum', { address: mistyped }],
    ['refused', { refusal: 'No policy allows this' }],
    ['done', { isDone: true }],
  ] as const)('%s for %o', (verdict, part) => expect(judgeRows([row(part)], context)[0]!.verdict).toBe(verdict))

  it('marks the second of two equal addresses, whoever they belong to', () => {
    const verdicts = judgeRows([row(), row({ name: 'Other', address: fresh.toLowerCase() })], context)
    expect(verdicts.map(({ verdict, earlier }) => [verdict, earlier?.name])).toEqual([
      ['good', undefined],
      ['duplicate', 'New'],
    ])
  })
})

it('kindOf', () => {
  expect(['', 'Exchange', 'person', 'x'].map(kindOf)).toEqual(['other', 'exchange', 'individual', null])
})

it('puts addresses of the same name into one entry, and fifty entries into a chain', () => {
  const rows = [row({ number: 2 }), row({ number: 3, name: 'B' }), row({ number: 4 })]
  expect(entriesOf(rows).map((entry) => entry.map(({ number }) => number))).toEqual([[2, 4], [3]])
  expect(chainsOf(Array.from({ length: 101 }, (_, index) => index)).map(({ length }) => length)).toEqual([50, 50, 1])
})
