import type { CheckedRecipient } from '@strongroom/sdk'
import { describe, expect, it } from 'vitest'
import type { FindChecked } from '../../lib/recipient.ts'
import {
  type DraftRow,
  inFile,
  judgePayout,
  keyOf,
  orderOf,
  payerOf,
  rawOf,
  type Source,
  sumsOf,
  withDecimalPoint,
} from './payout-rows.ts'

const acme = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const nothing = { fault: null, known: null, isFirstPayment: true, lookAlikes: [] }
const known = { name: 'Acme', label: null, counterpartyId: 'c', network: 'ethereum' }

/** The answers of the service about these addresses. */
const answers: Record<string, Partial<CheckedRecipient>> = {
  [acme]: { known },
  [stranger]: {},
}
const alike = `0x7099${'0'.repeat(32)}79C8`
answers[alike] = { lookAlikes: [{ address: acme, name: 'Acme' }] }
const mistyped = acme.replace('dc79C8', 'dc79c8')
answers[mistyped] = { address: null, fault: 'wrong_checksum' }
const paid = `0x${'5'.repeat(40)}`
answers[paid] = { isFirstPayment: false }
const find: FindChecked = ({ address }) => {
  const answer = answers[address]
  return answer === undefined ? null : { address, ...nothing, ...answer }
}
const balanceOf = (symbol: string, available: string) => ({
  tokenId: `t-${symbol}`,
  asset: symbol,
  symbol,
  decimals: 6,
  available: `${available}000000`,
  availableDecimal: available,
  reserved: '0',
  reservedDecimal: '0',
  exposure: '0',
  exposureDecimal: '0',
})
const operations: Source = {
  id: 'f',
  address: '0x291c425A581d3aadd38FBc5FEB33D598d145Afdc',
  label: 'Operations',
  network: 'ethereum',
  balances: [balanceOf('TUSD', '100'), balanceOf('ETH', '5')],
}
const reserve: Source = {
  ...operations,
  id: 'r',
  label: 'Reserve',
  address: `0x${'1'.repeat(40)}`,
  balances: [balanceOf('TUSD', '7')],
}
const sources = [operations, reserve]
const chosen = (row: DraftRow) => payerOf(row, { sourceId: 'f', tokenId: 't-TUSD' }, sources)
const named = (row: DraftRow) => payerOf(row, { sourceId: inFile, tokenId: inFile }, sources)

function row(part: Partial<DraftRow> = {}): DraftRow {
  const toAddress = acme
  const empty = { paymentPurpose: '', note: '', payer: '', token: '' }
  return { externalId: 'a', toAddress, amount: '1', ...empty, number: 2, refusal: null, ...part }
}

describe('judgePayout', () => {
  it.each([
    ['known', {}],
    ['new', { toAddress: stranger }],
    ['paid before', { toAddress: paid }],
    ['look-alike', { toAddress: alike }],
    ['wrong checksum', { toAddress: mistyped }],
    ['checking', { toAddress: `0x${'9'.repeat(40)}` }],
    ['no id', { externalId: '' }],
    ['no address', { toAddress: '0x1' }],
    ['no amount', { amount: '1,5' }],
    ['no amount', { amount: '0.0000001' }],
    ['no amount', { amount: '0' }],
    ['over balance', { amount: '100.000001' }],
    ['refused', { refusal: 'no' }],
  ] as const)('%s for %o', (verdict, part) => {
    expect(judgePayout([row(part)], find, chosen)[0]!.verdict).toBe(verdict)
  })

  it('follows the balance over the rows, and finds an id that occurs twice', () => {
    const rows = [row({ amount: '60' }), row({ externalId: 'b', amount: '60' }), row({ amount: '1' })]
    const judged = judgePayout(rows, find, chosen)
    expect(judged.map(({ verdict }) => verdict)).toEqual(['known', 'over balance', 'same id'])
    expect(sumsOf(judged).map(({ amount, count }) => [amount, count])).toEqual([['121', 3]])
  })
})

describe('the payer of a row', () => {
  it.each([
    [{ payer: 'operations', token: 'tusd' }, 'f TUSD'],
    [{ payer: '0x291C425A581D3AADD38FBC5FEB33D598D145AFDC', token: 'ETH' }, 'f ETH'],
    [{ payer: 'r', token: 'TUSD' }, 'r TUSD'],
    [{ payer: '', token: 'TUSD' }, 'no payer'],
    [{ payer: 'Savings', token: 'TUSD' }, 'no payer'],
    [{ payer: 'Reserve', token: 'ETH' }, 'no token'],
    [{ payer: 'Reserve', token: '' }, 'no token'],
  ])('is the one that it names: %o', (part, expected) => {
    const found = named(row(part))
    expect(typeof found === 'string' ? found : `${found.source.id} ${found.balance.symbol}`).toBe(expected)
  })

  it('is nobody where two addresses have its name, or nobody was chosen', () => {
    const twins = [operations, { ...reserve, label: 'Operations' }]
    const choice = { sourceId: inFile, tokenId: 't-TUSD' }
    expect(payerOf(row({ payer: 'Operations' }), choice, twins)).toBe('no payer')
    expect(payerOf(row({ payer: 'Operations' }), { sourceId: '', tokenId: '' }, sources)).toBe('no payer')
  })

  it('has a balance and a sum of its own', () => {
    const parts = [
      { externalId: 'a', payer: 'Operations', token: 'TUSD', amount: '99' },
      { externalId: 'b', payer: 'Reserve', token: 'TUSD', amount: '7' },
      { externalId: 'c', payer: 'Operations', token: 'ETH', amount: '5' },
      { externalId: 'd', payer: 'Reserve', token: 'TUSD', amount: '1' },
    ]
    const judged = judgePayout(parts.map(row), find, named)
    expect(judged.map(({ verdict }) => verdict)).toEqual(['known', 'known', 'known', 'over balance'])
    expect(sumsOf(judged).map(({ source, balance, amount }) => `${source.label} ${amount} ${balance.symbol}`)).toEqual([
      'Operations 99 TUSD',
      'Reserve 8 TUSD',
      'Operations 5 ETH',
    ])
    const { order, entered } = orderOf(judged.slice(0, 3), '')
    expect(order.rows.map(({ fromAddressId, tokenId }) => `${fromAddressId} ${tokenId}`)).toEqual([
      'f t-TUSD',
      'r t-TUSD',
      'f t-ETH',
    ])
    expect(entered.map(({ symbol }) => symbol)).toEqual(['TUSD', 'TUSD', 'ETH'])
  })
})

it('takes amounts exactly', () => expect(rawOf('0.000001', 6)).toBe(1n))

it('makes the same key of the same list', async () => {
  const lists = [[row()], [row()], [row({ amount: '2' })]]
  const keys = await Promise.all(lists.map((rows) => keyOf(orderOf(judgePayout(rows, find, chosen), '').order)))
  expect(keys[0]).toBe(keys[1])
  expect(keys[0]).not.toBe(keys[2])
})

describe('the amounts of a file', () => {
  it.each([
    [
      ['12.5', '1'],
      ['12.5', '1'],
    ],
    [
      ['12,5', '1'],
      ['12.5', '1'],
    ],
    [
      ['1.234,56', '1.234', '7'],
      ['1234.56', '1234', '7'],
    ],
    [
      ['1234,560', '12,50'],
      ['1234.560', '12.50'],
    ],
    [['1.234.567,1'], ['1234567.1']],
  ])('with a decimal comma are those with a decimal point: %j', (texts, amounts) => {
    expect(withDecimalPoint(texts)).toEqual(amounts)
  })

  it.each([[['1,234']], [['1,234', '12.5']], [['12,5', '1.5']], [['1,234,567.00']], [['12,5', '1,234.5']]])(
    'that could mean two numbers are no amounts: %j',
    (texts) => {
      expect(withDecimalPoint(texts).filter((text) => rawOf(text, 6) === null)).toHaveLength(1)
    },
  )
})
