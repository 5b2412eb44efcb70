import { describe, expect, it } from 'vitest'
import { type DraftRow, judgePayout, keyOf, orderOf, rawOf, sumOf } from './payout-rows.ts'

const known = [{ address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', name: 'Acme' }]
const balance = {
  tokenId: 't',
  asset: 'TUSD',
  symbol: 'TUSD',
  decimals: 6,
  available: '100000000',
  availableDecimal: '100',
  reserved: '0',
  reservedDecimal: '0',
  exposure: '0',
  exposureDecimal: '0',
}

function row(part: Partial<DraftRow> = {}): DraftRow {
  const toAddress = known[0]!.address
  return { externalId: 'a', toAddress, amount: '1', paymentPurpose: '', note: '', number: 2, refusal: null, ...part }
}

describe('judgePayout', () => {
  it.each([
    ['known', {}],
    ['new', { toAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' }],
    ['look-alike', { toAddress: `0x7099${'0'.repeat(36)}` }],
    ['no id', { externalId: '' }],
    ['no address', { toAddress: '0x1' }],
    ['no amount', { amount: '1,5' }],
    ['no amount', { amount: '0.0000001' }],
    ['no amount', { amount: '0' }],
    ['over balance', { amount: '100.000001' }],
    ['refused', { refusal: 'no' }],
  ] as const)('%s for %o', (verdict, part) => {
    expect(judgePayout([row(part)], known, balance)[0]!.verdict).toBe(verdict)
  })

  it('follows the balance over the rows, and finds an id that occurs twice', () => {
    const rows = [row({ amount: '60' }), row({ externalId: 'b', amount: '60' }), row({ amount: '1' })]
    expect(judgePayout(rows, known, balance).map(({ verdict }) => verdict)).toEqual([
      'known',
      'over balance',
      'same id',
    ])
    expect(sumOf(rows, balance)).toBe('121')
  })
})

it('takes amounts exactly', () => expect(rawOf('0.000001', 6)).toBe(1n))

it('makes the same key of the same list', async () => {
  const head = { name: '', paymentPurpose: '', fromAddressId: 'f', tokenId: 't' }
  const keys = await Promise.all([[row()], [row()], [row({ amount: '2' })]].map((rows) => keyOf(orderOf(rows, head))))
  expect(keys[0]).toBe(keys[1])
  expect(keys[0]).not.toBe(keys[2])
})
