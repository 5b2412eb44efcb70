import { beforeAll, describe, expect, it, vi } from 'vitest'
import { addDays, dayOf, endOfDay, startOfDay } from '../../lib/day.ts'
import { chipsOf, filterOf, lookedBackTo, presets, queryOf } from './filter.ts'

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en-US'] })
})

describe('the filter of a URL', () => {
  it.each([
    [
      { direction: 'in', status: 'pending', page: 4 },
      { direction: 'in', statuses: 'pending' },
    ],
    [{ direction: 'sideways', flowType: 'none' }, {}],
    [{ statuses: 'failed,pending', status: 'confirmed' }, { statuses: 'failed,pending' }],
    [{ includeShared: false }, { includeShared: 'false' }],
    [{ includeShared: true }, {}],
    [{ paymentPurpose: 2026 }, { paymentPurpose: '2026' }],
    [{ minimumAmount: 1e21 }, {}],
    [{ minimumAmount: '100000000000000000001' }, { minimumAmount: '100000000000000000001' }],
    [{ txHash: '', note: 'x', asset: { $ne: null } }, {}],
    [{ paymentPurpose: 'x'.repeat(301) }, {}],
  ])('%o', (search, filter) => {
    expect(filterOf(search)).toEqual(filter)
  })
})

describe('the query of a filter', () => {
  it('turns days into the instants at which they begin and end for the reader', () => {
    const { from, to } = queryOf({ from: '2026-03-29', to: '2026-03-29' })
    expect(from).toBe(new Date('2026-03-29T00:00').toISOString())
    expect(new Date(to!).getTime()).toBe(new Date('2026-03-30T00:00').getTime() - 1)
  })

  it('leaves instants as a report names them', () => {
    const from = '2026-03-29T04:05:06.789Z'
    expect(queryOf({ from }).from).toBe(from)
  })
})

describe('days', () => {
  it.each([
    ['2026-01-31', 1, '2026-02-01'],
    ['2026-03-01', -1, '2026-02-28'],
    ['2028-03-01', -1, '2028-02-29'],
    ['2026-12-31', 1, '2027-01-01'],
  ])('%s and %i more', (day, count, sum) => {
    expect(addDays(day, count)).toBe(sum)
  })

  it('begin and end with each other', () => {
    const day = dayOf(new Date())
    expect(new Date(endOfDay(day)).getTime() + 1).toBe(new Date(startOfDay(addDays(day, 1))).getTime())
  })
})

it('offers periods that end today, and the month before', () => {
  const periods = presets('2026-03-03').map(({ key, from, to }) => [key, from, to])
  expect(periods).toEqual([
    ['today', '2026-03-03', '2026-03-03'],
    ['week', '2026-02-25', '2026-03-03'],
    ['days30', '2026-02-02', '2026-03-03'],
    ['month', '2026-03-01', '2026-03-03'],
    ['lastMonth', '2026-02-01', '2026-02-28'],
    ['year', '2026-01-01', '2026-03-03'],
  ])
})

it('describes every filter in words', () => {
  const filter = { direction: 'in', statuses: 'pending,failed', tokenId: 't1', counterpartyId: 'c1', to: '2026-03-03' }
  const chips = chipsOf(filter, (_name, id) => (id === 't1' ? 'USDT' : undefined))
  expect(chips.map(({ text }) => text)).toEqual([
    'Received',
    'On its way or Failed',
    'Token: USDT',
    'Counterparty: c1',
    'Until Mar 3, 2026',
  ])
})

describe('how far a list has looked', () => {
  const cursorOf = (text: string) => Buffer.from(text).toString('base64url')
  it.each([
    [cursorOf('1767225600000.cmwru0e8q6kwjy2qtndy79h46.tag'), '2026-01-01T00:00:00.000Z'],
    [cursorOf('something else'), null],
    ['***', null],
  ])('%s', (cursor, at) => {
    expect(lookedBackTo(cursor)).toBe(at)
  })
})
