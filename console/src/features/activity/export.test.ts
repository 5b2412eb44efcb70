import { expect, it } from 'vitest'
import { exportPath } from './export.ts'

const now = new Date('2026-03-03T12:00:00.000Z')

it.each([
  [{}, '?includeShared=true'],
  [{ statuses: 'failed,rejected', tokenId: 't1' }, '?includeShared=true&statuses=failed%2Crejected&tokenIds=t1'],
  [{ direction: 'in', search: 'rent' }, '?includeShared=true'],
  [{ from: '2026-01-01', to: '2026-01-31' }, '?includeShared=true&from=2026-01-01&until=2026-01-31'],
  [{ from: '2026-01-01' }, '?includeShared=true&from=2026-01-01&until=2026-03-03'],
  [{ to: '2026-01-31' }, '?includeShared=true&from=2025-01-31&until=2026-01-31'],
])('%o is exported by the list of operations', (filter, search) => {
  expect(exportPath('treasury', filter, now)).toBe(`/v/treasury/reports/operations${search}`)
})
