import { describe, expect, it } from 'vitest'
import { type Drilldown, exceptionsSearchOf, type Place, placeOf, type Shown } from './drilldown.ts'
import type { ReportSearch } from './parameters.ts'
import type { ReportType } from './types.ts'

const report = {
  from: '2026-07-01T00:00:00.000Z',
  to: '2026-08-01T00:00:00.000Z',
  dateBasis: 'createdAt',
  classificationMode: 'historical',
} as const
const dates = { from: '2026-07-01T00:00:00.000Z', to: '2026-07-31T23:59:59.999Z' }
const of = (type: ReportType, search: ReportSearch, changes: Partial<Shown['report']> = {}, readsAll = true) => ({
  code: 'main',
  type,
  search,
  report: { ...report, ...changes },
  readsAll,
})
const activity = (search: object): Place => ({ page: 'activity', search: { ...dates, ...search } })
const operations = (search: Record<string, string>): Place => ({ page: 'operations', search })

describe('the operations of a figure', () => {
  it.each<[ReportType, ReportSearch, Drilldown, Place | null]>([
    ['transaction_activity', {}, {}, activity({})],
    ['transaction_activity', { statuses: 'failed,rejected' }, {}, activity({ statuses: 'failed,rejected' })],
    ['transaction_activity', { statuses: 'failed' }, { statuses: 'awaiting_approval' }, null],
    ['transaction_activity', { statuses: 'failed,pending' }, { statuses: 'failed' }, activity({ statuses: 'failed' })],
    ['transaction_activity', { tokenIds: 'a' }, {}, activity({ tokenId: 'a' })],
    ['transaction_activity', { tokenIds: 'a,b' }, {}, operations({ tokenIds: 'a,b' })],
    ['transaction_activity', { tokenIds: 'a,b' }, { tokenId: 'b' }, activity({ tokenId: 'b' })],
    ['transaction_activity', { tokenIds: 'a,b' }, { direction: 'in' }, null],
    [
      'transaction_activity',
      { period: 'lastMonth', minimumAmount: '5' },
      {},
      operations({ period: 'lastMonth', minimumAmount: '5' }),
    ],
    ['transaction_activity', { includeInternal: 'false' }, {}, activity({ flowType: 'external' })],
    [
      'transaction_activity',
      { includeInternal: 'false', flowTypes: 'internal' },
      {},
      operations({ includeInternal: 'false', flowTypes: 'internal' }),
    ],
    ['transaction_activity', { counterpartyId: 'c' }, {}, activity({})],
    ['counterparty_activity', { counterpartyId: 'c' }, {}, activity({ counterpartyId: 'c' })],
    ['category_analytics', { categoryKey: 'travel' }, {}, activity({ category: 'travel' })],
    ['category_analytics', { categoryKey: 'travel', categories: 'rent' }, {}, null],
    ['address_activity', { addressId: 'a', ownAddressIds: 'b' }, {}, null],
  ])('of %s with %o and %o', (type, search, more, place) => {
    expect(placeOf(of(type, search), more)).toEqual(place)
  })

  it('are those of the report where Activity has another date', () => {
    const shown = of('transaction_activity', { dateBasis: 'confirmedAt' }, { dateBasis: 'confirmedAt' })
    expect(placeOf(shown, { tokenId: 'a' })).toEqual(operations({ dateBasis: 'confirmedAt', tokenIds: 'a' }))
    expect(placeOf(of('operations', {}, { dateBasis: 'confirmedAt' }), dates)).toBeNull()
  })

  it('are those of the report where the address book of today decides', () => {
    const current = { classificationMode: 'current' } as const
    const found = placeOf(of('transaction_activity', { statuses: 'confirmed' }, current), { counterpartyId: 'c' })
    expect(found).toEqual(operations({ statuses: 'confirmed', counterpartyIds: 'c' }))
    const subject = of('counterparty_activity', { counterpartyId: 'c' }, current)
    expect(placeOf(subject, { tokenId: 'a' })).toEqual(operations({ counterpartyIds: 'c', tokenIds: 'a' }))
    expect(placeOf(subject, { direction: 'in' })).toBeNull()
  })

  it('of a report of fees are those with such a fee, by the date of the report', () => {
    const booked = of('fees', { period: 'last30' }, { dateBasis: 'feeBookedAt' })
    const dated = { period: 'last30', dateBasis: 'feeBookedAt' }
    expect(placeOf(booked, { feePayerIds: 'a' })).toEqual(operations({ ...dated, feePayerIds: 'a' }))
    expect(placeOf(booked, { network: 'ethereum' })).toEqual(operations({ ...dated, networkIds: 'ethereum' }))
    expect(placeOf(booked, { from: '2026-07-06', until: '2026-07-12' })).toEqual(
      operations({ dateBasis: 'feeBookedAt', from: '2026-07-06', until: '2026-07-12' }),
    )
    const kinds = 'payment,failure'
    const created = of('fees', { dateBasis: 'createdAt' })
    expect(placeOf(created, { feeKinds: kinds })).toEqual(operations({ dateBasis: 'createdAt', feeKinds: kinds }))
    const narrowed = of('fees', { feeKinds: kinds }, { dateBasis: 'feeBookedAt' })
    expect(placeOf(narrowed, { feeKinds: 'failure' })).toEqual(
      operations({ dateBasis: 'feeBookedAt', feeKinds: 'failure' }),
    )
    expect(placeOf(narrowed, { feeKinds: 'cancellation' })).toBeNull()
    expect(placeOf(of('transaction_activity', { feeKinds: kinds }), {})).toEqual(operations({ feeKinds: kinds }))
  })

  it('that needed votes are those of the policies that asked for them', () => {
    const votes = of('approval_activity', { period: 'last30' })
    const waiting = { approvalPolicyIds: 'a', statuses: 'awaiting_approval' }
    expect(placeOf(votes, waiting)).toEqual(operations({ period: 'last30', ...waiting }))
    expect(placeOf(votes, { approvalPolicyIds: 'a,b' })).toEqual(
      operations({ period: 'last30', approvalPolicyIds: 'a,b' }),
    )
    expect(placeOf(votes, { statuses: 'awaiting_approval' })).toEqual(activity({ statuses: 'awaiting_approval' }))
    const narrowed = of('approval_activity', { approvalPolicyIds: 'a' })
    expect(placeOf(narrowed, {})).toEqual(operations({ approvalPolicyIds: 'a' }))
    expect(placeOf(narrowed, { approvalPolicyIds: 'b' })).toBeNull()
  })

  it('that lack something are those of the subject of the report', () => {
    const subject = of('counterparty_activity', { counterpartyId: 'c', period: 'last30' })
    const filters = { counterpartyIds: 'c', period: 'last30', exceptions: 'uncategorizedOperations' }
    expect(exceptionsSearchOf(subject, 'uncategorizedOperations')).toMatchObject(filters)
    expect(exceptionsSearchOf(of('address_activity', { addressId: 'a' }), 'missingRates')).toMatchObject({
      ownAddressIds: 'a',
    })
  })

  it('leave out what others share where the report does, for a reader of a part of the vault', () => {
    const part = (search: ReportSearch) => placeOf(of('transaction_activity', search, {}, false))
    expect(part({})).toEqual(activity({ includeShared: 'false' }))
    expect(part({ includeShared: 'true' })).toEqual(activity({}))
  })
})
