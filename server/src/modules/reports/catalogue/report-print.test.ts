import { describe, expect, it } from 'vitest'
import { addressScopeOf } from '../../../access/address-scope.ts'
import type { ReportRequest } from '../requests/report-request.ts'
import { type PrintSource, toPrint } from './report-print.ts'

const vault = { id: 'v', code: 'main', name: 'Main vault', lockedAt: null, protection: 'none' } as never
const viewer = (readsAll: boolean) => ({ userId: 'me', readsAll, groupIds: [], vault })
/** February on the clocks of Berlin. */
const interval = { from: new Date('2026-01-31T23:00:00.000Z'), to: new Date('2026-02-28T23:00:00.000Z') }

function print(changes: Omit<Partial<PrintSource>, 'request'> & { request?: Partial<ReportRequest> } = {}) {
  const request = {
    type: 'account_statement',
    timezone: 'Europe/Berlin',
    baseCurrency: 'USD',
    drilldown: {},
    now: new Date('2026-03-03T08:00:00.000Z'),
    ...changes.request,
    filter: {
      scope: addressScopeOf(viewer(true)),
      interval,
      dateBasis: 'createdAt',
      counterpartyClassification: 'current',
      ...changes.request?.filter,
    },
  } as ReportRequest
  return toPrint({
    organisationName: null,
    member: { vault, userId: 'me', email: 'me@example.org' },
    parameters: {},
    names: new Map([['t1', 'USDT on ethereum']]),
    heads: [],
    ...changes,
    request,
  })
}

describe('the title block of a report', () => {
  it('names organisation, vault, period in the zone of the reader, author and head of the record', () => {
    const heads = [{ log: 'ledger' as const, sequence: 42, hash: 'ab12' }]
    expect(print({ organisationName: 'Example Corporation', heads }).block).toEqual([
      { label: 'Organisation', value: 'Example Corporation' },
      { label: 'Vault', value: 'Main vault (main)' },
      { label: 'Period', value: '1 February 2026 to 28 February 2026 (Europe/Berlin)' },
      { label: 'Prepared by', value: 'me@example.org, 2026-03-03 09:00:00 +01:00' },
      { label: 'Record', value: 'Ledger: seal 42, ab12' },
    ])
  })

  it('is in German, with German days, where the reader asks for it', () => {
    const { title, block, facts, pageHead } = print({ parameters: { language: 'de', statuses: ['failed', 'pending'] } })
    expect(title).toBe('Kontoauszug')
    expect(block[1]).toEqual({ label: 'Zeitraum', value: '1. Februar 2026 bis 28. Februar 2026 (Europe/Berlin)' })
    expect(facts).toContainEqual({ label: 'Status', value: 'Fehlgeschlagen, Unterwegs' })
    expect(pageHead[0]).toBe(
      'Main vault (main) · 1. Februar 2026 bis 28. Februar 2026 (Europe/Berlin) · Stand der Daten 03.03.2026 09:00:00 +01:00',
    )
  })

  it('has no word of a program', () => {
    const { facts, pageHead } = print({ parameters: { tokenIds: ['t1'], flowTypes: ['external'], groupBy: 'week' } })
    expect(facts).toContainEqual({ label: 'Token', value: 'USDT on ethereum' })
    const text = [...facts.map(({ label, value }) => `${label} ${value}`), ...pageHead].join('\n')
    expect(text).not.toMatch(/[a-z][A-Z]|_|\d{4}-\d\d-\d\dT/)
  })

  it('marks a period that has not ended', () => {
    expect(print().notice).toBeNull()
    const now = new Date('2026-02-10T08:00:00.000Z')
    expect(print({ request: { now } }).notice).toBe(
      'The period has not ended: figures as of 2026-02-10 09:00:00 +01:00.',
    )
  })

  it('has the instants of a period that is not of whole days', () => {
    const filter = { interval: { ...interval, to: new Date('2026-02-10T08:00:00.000Z') } } as ReportRequest['filter']
    const period = print({ request: { filter } }).block.find(({ label }) => label === 'Period')!.value
    expect(period).toBe('2026-02-01 00:00:00 +01:00 to 2026-02-10 09:00:00 +01:00, excluded (Europe/Berlin)')
  })
})
