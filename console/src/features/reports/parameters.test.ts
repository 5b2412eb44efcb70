import { describe, expect, it } from 'vitest'
import { missingSubject, parametersOf, type ReportSearch, searchOf } from './parameters.ts'
import type { ReportType } from './types.ts'

const now = new Date('2026-08-03T12:00:00Z')

describe('parameters of a report', () => {
  it('keeps what a report knows and writes it as text', () => {
    expect(
      searchOf({ minimumAmount: 5, includeShared: true, statuses: 'failed', hack: 'x', groupBy: { a: 1 } }),
    ).toEqual({
      minimumAmount: '5',
      includeShared: 'true',
      statuses: 'failed',
    })
  })

  it.each<[ReportType, ReportSearch, object]>([
    ['transaction_activity', {}, { from: '2026-07-05', to: '2026-08-04' }],
    ['transaction_activity', { period: 'lastMonth' }, { from: '2026-07-01', to: '2026-08-01' }],
    ['transaction_activity', { from: '2026-07-01', until: '2026-07-31' }, { from: '2026-07-01', to: '2026-08-01' }],
    [
      'operations',
      { period: 'today', statuses: 'failed,rejected', includeInternal: 'false', groupBy: 'week' },
      { from: '2026-08-03', to: '2026-08-04', statuses: ['failed', 'rejected'], includeInternal: false },
    ],
    [
      'account_statement',
      { period: 'today', addressId: 'a', tokenId: 't', statuses: 'failed' },
      { from: '2026-08-03', to: '2026-08-04', addressId: 'a', tokenId: 't' },
    ],
  ])('of %s with %o', (type, search, expected) => {
    expect(parametersOf(type, search, 'UTC', now)).toEqual({ timezone: 'UTC', ...expected })
  })

  it.each<[ReportType, ReportSearch, string | null]>([
    ['transaction_activity', {}, null],
    ['address_activity', {}, 'addressId'],
    ['address_activity', { folderId: 'f' }, null],
    ['account_statement', { addressId: 'a' }, 'tokenId'],
    ['category_analytics', { categoryKey: 'travel' }, null],
  ])('%s with %o lacks %s', (type, search, expected) => expect(missingSubject(type, search)).toBe(expected))
})
