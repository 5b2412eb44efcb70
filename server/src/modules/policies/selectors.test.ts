import { describe, expect, it } from 'vitest'
import type { Facts } from './facts.ts'
import { evaluateSelector, findSelectorFault, selectorTypes } from './selectors.ts'

const evmAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const bitcoinAddress = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const facts: Facts = {
  now: new Date('2026-01-30T09:30:00.000Z'),
  initiatorId: 'alice',
  initiatorGroupIds: ['treasurers', 'everyone'],
  token: { id: 'token-1', code: 'USDC' },
  amount: '1000.5',
  networkSlug: 'ethereum',
  sourceAddressId: 'address-1',
  sourceAddress: evmAddress,
  destination: { address: evmAddress, key: evmAddress.toLowerCase(), networkType: 'evm' },
  destinationType: 'unknown',
}
const withoutFacts: Facts = { now: facts.now, initiatorId: 'alice', initiatorGroupIds: [] }
const officeHours = { timezone: 'UTC', days: ['fri'], from: '09:00', to: '17:00' }

/** Per selector: values that match the facts, values that do not, and values that are refused with the field at fault. */
const table: Record<string, { matching: unknown[]; other: unknown[]; faulty: [value: unknown, field: string][] }> = {
  amount: {
    matching: [
      { op: 'gt', value: '1000.49' },
      { op: 'gte', value: '1000.50' },
      { op: 'lt', value: '1001' },
      { op: 'lte', value: '1000.5' },
      { op: 'between', min: '1000.5', max: '1000.5' },
      { op: 'lt', value: '115792089237316195423570985008687907853269984665640564039457584007913129639935' },
    ],
    other: [
      { op: 'gt', value: '1000.5' },
      { op: 'gte', value: '1000.500000000000000001' },
      { op: 'lt', value: '1000.5' },
      { op: 'lte', value: '999' },
      { op: 'between', min: '1000.6', max: '2000' },
      { op: 'between', min: '0', max: '1000.4' },
    ],
    faulty: [
      [{ op: 'gt', value: 1000 }, 'value.value'],
      [{ op: 'gt', value: '1e3' }, 'value.value'],
      [{ op: 'gt', value: '-1' }, 'value.value'],
      [{ op: 'gt' }, 'value.value'],
      [{ op: 'eq', value: '1' }, 'value.op'],
      [{ op: 'toString', value: '1' }, 'value.op'],
      [{ op: 'gt', value: '1', valeu: '2' }, 'value.valeu'],
      [{ op: 'between', min: '2', max: '1' }, 'value.min'],
      [{ op: 'between', min: '2' }, 'value.max'],
      [{ op: 'between', min: '1', max: '2', value: '3' }, 'value.value'],
      ['1000', 'value'],
      [null, 'value'],
      [[], 'value'],
    ],
  },
  token: setCases(['USDC', 'token-1', ['DAI', 'USDC']], ['usdc', 'DAI', ['DAI', 'toString']]),
  network: setCases(['ethereum', ['bitcoin', 'ethereum']], ['bitcoin', 'constructor', ['Ethereum']]),
  sourceAddress: addressCases(['address-1', evmAddress, evmAddress.toLowerCase(), ['x', 'address-1']], ['address-2']),
  destination: addressCases([evmAddress, evmAddress.toLowerCase(), [bitcoinAddress, evmAddress]], [bitcoinAddress]),
  destinationType: {
    matching: ['unknown', ['internal', 'unknown']],
    other: ['internal', ['internal', 'counterparty']],
    faulty: [
      ['external', 'value'],
      [['internal', 'toString'], 'value.1'],
      [[], 'value'],
    ],
  },
  initiator: setCases(['alice', ['bob', 'alice']], ['bob', 'Alice', '__proto__']),
  initiatorGroup: setCases(['treasurers', 'everyone', ['x', 'everyone']], ['administrators', 'length']),
  time: {
    matching: [officeHours, { ...officeHours, timezone: 'America/New_York', from: '04:30', to: '24:00' }],
    other: [
      { ...officeHours, days: ['mon', 'thu', 'sat'] },
      { ...officeHours, to: '09:30' },
    ],
    faulty: [
      [{ ...officeHours, timezone: 'Mars/Olympus' }, 'value.timezone'],
      [{ ...officeHours, timezone: '+02:00' }, 'value.timezone'],
      [{ ...officeHours, timezone: undefined }, 'value.timezone'],
      [{ ...officeHours, days: [] }, 'value.days'],
      [{ ...officeHours, days: ['fri', 'fri'] }, 'value.days'],
      [{ ...officeHours, days: ['friday'] }, 'value.days'],
      [{ ...officeHours, days: 'fri' }, 'value.days'],
      [{ ...officeHours, from: '9:00' }, 'value.from'],
      [{ ...officeHours, from: '24:00' }, 'value.from'],
      [{ ...officeHours, to: '25:00' }, 'value.to'],
      [{ ...officeHours, to: '09:00' }, 'value.to'],
      [{ ...officeHours, zone: 'UTC' }, 'value.zone'],
      ['09:00', 'value'],
    ],
  },
}

describe('selectors', () => {
  it('are all in the table of this test', () => {
    expect(Object.keys(table).sort()).toEqual([...selectorTypes].sort())
  })

  for (const [selectorType, { matching, other, faulty }] of Object.entries(table)) {
    it(`${selectorType} matches what it names and nothing else`, () => {
      for (const [values, matched] of [
        [matching, true],
        [other, false],
      ] as const) {
        for (const value of values) {
          expect(findSelectorFault('transfer', selectorType, value), JSON.stringify(value)).toBeNull()
          const finding = evaluateSelector({ selectorType, value }, facts)
          expect(finding.matched, JSON.stringify(value)).toBe(matched)
          expect(finding.observed).not.toBeNull()
        }
      }
    })

    it(`T34 ${selectorType} refuses a bad value and, should one be stored, cannot tell`, () => {
      for (const [value, field] of faulty) {
        expect(findSelectorFault('transfer', selectorType, value)?.field, JSON.stringify(value)).toBe(field)
        expect(evaluateSelector({ selectorType, value }, facts)).toEqual({ matched: null, observed: null })
      }
    })

    it(`${selectorType} cannot tell without its fact`, () => {
      const factless = evaluateSelector({ selectorType, value: matching[0] }, withoutFacts).matched
      // Who asks, and when, is always known.
      if (selectorType === 'initiator' || selectorType === 'time') expect(factless).toBe(true)
      else if (selectorType === 'initiatorGroup') expect(factless).toBe(false)
      else expect(factless).toBeNull()
    })
  }

  it('sourceAddress is certain only about what it knows of', () => {
    const bySelector = (value: string, known: Partial<Facts>) =>
      evaluateSelector({ selectorType: 'sourceAddress', value }, { ...withoutFacts, ...known }).matched
    expect(bySelector('address-1', { sourceAddressId: 'address-1' })).toBe(true)
    expect(bySelector(evmAddress, { sourceAddressId: 'address-1' })).toBeNull()
    expect(bySelector('address-1', { sourceAddress: evmAddress })).toBeNull()
  })

  it('destination compares as the network does: exactly where case matters', () => {
    const address = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
    const tron = { address, key: address, networkType: 'tron' as const }
    const matches = (value: string) =>
      evaluateSelector({ selectorType: 'destination', value }, { ...facts, destination: tron }).matched
    expect(matches(address)).toBe(true)
    expect(matches(address.toLowerCase())).toBe(false)
  })

  it('T34 refuses selectors that are unknown, foreign to the action, or not available yet', () => {
    const refused = (actionType: string, selectorType: string) => findSelectorFault(actionType, selectorType, 'x')
    for (const name of ['ammount', '', 'constructor', '__proto__', 'toString']) {
      expect(refused('transfer', name)).toEqual({
        field: 'selectorType',
        message: `must be one of ${selectorTypes.join(', ')}`,
      })
      expect(evaluateSelector({ selectorType: name, value: 'x' }, facts)).toEqual({ matched: null, observed: null })
    }
    expect(refused('create_address', 'amount')?.message).toBe('the selector amount does not apply to create_address')
    expect(refused('transfer', 'velocityUsd')?.message).toBe('the selector velocityUsd is not available yet')
    const addressSelectors = selectorTypes.filter(
      (name) => findSelectorFault('create_address', name, table[name]?.matching[0]) === null,
    )
    expect(addressSelectors).toEqual(['network', 'initiator', 'initiatorGroup', 'time'])
  })
})

describe('time', () => {
  const matches = (value: unknown, now: string) =>
    evaluateSelector({ selectorType: 'time', value }, { ...facts, now: new Date(now) }).matched
  const night = { timezone: 'Europe/Berlin', days: ['fri'], from: '22:00', to: '06:00' }
  const nightOfChange = { timezone: 'Europe/Berlin', days: ['sun'], from: '01:30', to: '03:00' }
  const cases: [name: string, value: unknown, now: string, matched: boolean][] = [
    ['includes its first minute', officeHours, '2026-01-30T09:00:00.000Z', true],
    ['excludes the moment before', officeHours, '2026-01-30T08:59:59.999Z', false],
    ['includes the last moment', officeHours, '2026-01-30T16:59:59.999Z', true],
    ['excludes its end', officeHours, '2026-01-30T17:00:00.000Z', false],
    ['reaches midnight with 24:00', { ...officeHours, to: '24:00' }, '2026-01-30T23:59:59.999Z', true],
    ['past midnight begins on the day', night, '2026-01-30T21:00:00.000Z', true],
    ['past midnight ends on the day after', night, '2026-01-31T04:59:00.000Z', true],
    ['past midnight excludes its end', night, '2026-01-31T05:00:00.000Z', false],
    ['past midnight excludes the morning of the day', night, '2026-01-30T04:00:00.000Z', false],
    ['past midnight excludes the evening of the day after', night, '2026-01-31T21:30:00.000Z', false],
    ['from Sunday runs into Monday', { ...night, days: ['sun'] }, '2026-02-02T04:00:00.000Z', true],
    ['follows summer time', { ...officeHours, timezone: 'Europe/Berlin' }, '2026-07-03T07:00:00.000Z', true],
    ['follows winter time', { ...officeHours, timezone: 'Europe/Berlin' }, '2026-01-30T07:59:00.000Z', false],
    ['is an hour short when the clock springs', nightOfChange, '2026-03-29T01:00:00.000Z', false],
    ['holds before the clock springs', nightOfChange, '2026-03-29T00:59:00.000Z', true],
    ['holds in the first pass of the doubled hour', nightOfChange, '2026-10-25T00:30:00.000Z', true],
    ['holds in the second pass of the doubled hour', nightOfChange, '2026-10-25T01:30:00.000Z', true],
    ['ends after the doubled hour', nightOfChange, '2026-10-25T02:00:00.000Z', false],
    [
      'takes the weekday of the zone',
      { ...officeHours, timezone: 'Asia/Tokyo', from: '00:00' },
      '2026-01-29T16:00:00.000Z',
      true,
    ],
  ]
  it.each(cases)('%s', (_name, value, now, matched) => {
    expect(matches(value, now)).toBe(matched)
  })
})

function setCases(matching: unknown[], other: unknown[]) {
  const faulty: [unknown, string][] = [
    [[], 'value'],
    ['', 'value'],
    [7, 'value'],
    [null, 'value'],
    [{ op: 'gt', value: '1' }, 'value'],
    [['ok', 7], 'value.1'],
    [['ok', ''], 'value.1'],
    ['x'.repeat(129), 'value'],
    [Array.from({ length: 201 }, (_, i) => `v${i}`), 'value'],
  ]
  return { matching, other, faulty }
}

function addressCases(matching: unknown[], other: unknown[]) {
  const cases = setCases(matching, other)
  const wrongChecksum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'
  cases.faulty.push([wrongChecksum, 'value'], [['ok', wrongChecksum], 'value.1'], ['two words', 'value'])
  return cases
}
