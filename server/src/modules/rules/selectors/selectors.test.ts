import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { actionTypes, type Facts } from './facts.ts'
import { describeSelectors, evaluateSelector, findSelectorFault, selectorTypes } from './selectors.ts'

const evmAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const bitcoinAddress = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const facts: Facts = {
  now: new Date('2026-01-30T09:30:00.000Z'),
  initiatorId: 'first-approver',
  initiatorGroupIds: ['treasurers', 'everyone'],
  initiatorKind: 'service',
  token: { id: 'token-1', code: 'USDC' },
  amount: '1000.5',
  networkSlug: 'ethereum',
  sourceAddressId: 'address-1',
  sourceAddress: evmAddress,
  destination: { address: evmAddress, key: evmAddress.toLowerCase(), networkType: 'evm' },
  destinationType: 'unknown',
  usdRate: '0.999',
  available: '3001.5',
  addressGroupIds: ['folder-1', 'folder-2'],
  category: 'payroll',
  maxFee: '0.0042',
  riskScore: '70',
  routeVariants: [
    { route: 'purpose', variant: 'ops' },
    { route: 'region', variant: 'eu' },
  ],
  counterparty: { id: 'supplier', kind: 'company', groupIds: ['trusted'], createdAt: '2026-01-29T09:30:00.001Z' },
  destinationAddedAt: '2026-01-30T08:30:00.001Z',
  isFirstPayment: true,
  isLookAlike: false,
  velocity: [
    { per: 'initiator', windowSeconds: 3600, count: 4, amount: '99.5', usd: '0.0005' },
    { per: 'vault', windowSeconds: 60, count: 0, amount: '0', usd: '0' },
    { per: 'destination', windowSeconds: 60, count: 3, amount: '3', usd: null },
  ],
}
const withoutFacts: Facts = { now: facts.now, initiatorId: 'first-approver', initiatorGroupIds: [] }
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
  amountUsd: {
    // 1000.5 at 0.999 is 999.4995: not a cent more, and not rounded to 999.50.
    matching: [
      { op: 'gt', value: '999.4994' },
      { op: 'lt', value: '999.5' },
      { op: 'between', min: '999.4995', max: '999.4995' },
    ],
    other: [
      { op: 'gte', value: '999.5' },
      { op: 'gt', value: '999.4995' },
      { op: 'lte', value: '999.49' },
    ],
    faulty: [
      [{ op: 'gt', value: 1000 }, 'value.value'],
      [{ op: 'gt', value: '1', per: 'vault' }, 'value.per'],
      ['1000', 'value'],
    ],
  },
  maxFee: {
    matching: [
      { op: 'gt', value: '0.0041' },
      { op: 'lte', value: '0.00420' },
      { op: 'between', min: '0', max: '1' },
    ],
    other: [
      { op: 'gt', value: '0.0042' },
      { op: 'lt', value: '0.0042' },
    ],
    faulty: [
      [{ op: 'gt', value: 1 }, 'value.value'],
      ['0.01', 'value'],
    ],
  },
  riskScore: {
    matching: [
      { op: 'gte', value: '70' },
      { op: 'lt', value: '70.5' },
      { op: 'between', min: '0', max: '100' },
    ],
    other: [
      { op: 'gt', value: '70' },
      { op: 'lte', value: '69' },
    ],
    faulty: [
      [{ op: 'gt', value: 70 }, 'value.value'],
      ['70', 'value'],
    ],
  },
  percentOfBalance: {
    // 1000.5 of 3001.5 is a third, exactly.
    matching: [
      { op: 'gt', value: '33.333333333333333333333333333333333333' },
      { op: 'lt', value: '33.333333333333333333333333333333333334' },
      { op: 'between', min: '33', max: '34' },
    ],
    other: [
      { op: 'gte', value: '33.333333333333333333333333333333333334' },
      { op: 'lte', value: '33.333333333333333333333333333333333333' },
      { op: 'gt', value: '100' },
    ],
    faulty: [
      [{ op: 'gt', value: '50%' }, 'value.value'],
      [{ op: 'gt', value: 50 }, 'value.value'],
      [null, 'value'],
    ],
  },
  velocityAmount: velocityCases(
    [
      { op: 'gte', value: '1100' },
      { op: 'lte', value: '1100' },
      { op: 'gt', value: '1099.999999999999999999' },
      { op: 'gte', value: '1000.5', per: 'vault', windowSeconds: 60 },
    ],
    [
      { op: 'gt', value: '1100' },
      { op: 'lt', value: '1100' },
    ],
  ),
  velocityUsd: velocityCases(
    [
      { op: 'gte', value: '999.5' },
      { op: 'lte', value: '999.50' },
      { op: 'gt', value: '999.4994', per: 'vault', windowSeconds: 60 },
    ],
    [
      { op: 'gt', value: '999.5' },
      { op: 'gte', value: '999.5', per: 'vault', windowSeconds: 60 },
    ],
  ),
  velocityCount: velocityCases(
    [
      { op: 'gte', value: '5' },
      { op: 'lt', value: '6' },
      { op: 'lte', value: '1', per: 'vault', windowSeconds: 60 },
    ],
    [
      { op: 'gt', value: '5' },
      { op: 'lt', value: '5' },
    ],
    [[{ op: 'gt', value: '1.5', windowSeconds: 3600, per: 'initiator' }, 'value.value']],
  ),
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
  addressGroup: setCases(['folder-2', ['x', 'folder-1']], ['Folder-1', 'folder', ['x', 'length']]),
  routeVariant: {
    matching: [
      { route: 'purpose', variant: 'ops' },
      [
        { route: 'purpose', variant: 'payroll' },
        { route: 'region', variant: 'eu' },
      ],
    ],
    other: [
      { route: 'purpose', variant: 'eu' },
      { route: 'region', variant: 'ops' },
      [{ route: 'constructor', variant: 'toString' }],
    ],
    faulty: [
      ['ops', 'value'],
      [[], 'value'],
      [{ route: 'purpose' }, 'value.variant'],
      [{ route: '', variant: 'ops' }, 'value.route'],
      [{ route: 'purpose', variant: ['ops'] }, 'value.variant'],
      [[{ route: 'purpose', variant: 'ops' }, { route: 'purpose' }], 'value.1.variant'],
      [[{ route: 'purpose', variant: 'ops', index: 1 }], 'value.0.index'],
      [JSON.parse('{"route":"purpose","variant":"ops","__proto__":{}}'), 'value.__proto__'],
      [[{ route: 'purpose', variant: 'ops' }, 'ops'], 'value.1'],
      [Array.from({ length: 201 }, () => ({ route: 'purpose', variant: 'ops' })), 'value'],
    ],
  },
  counterparty: setCases(['supplier', ['x', 'supplier']], ['Supplier', 'company', '__proto__']),
  counterpartyGroup: setCases(['trusted', ['x', 'trusted']], ['supplier', 'length']),
  counterpartyKind: {
    matching: ['company', ['individual', 'company']],
    other: ['exchange', ['individual', 'other']],
    faulty: [
      ['Company', 'value'],
      [['company', 'toString'], 'value.1'],
      [[], 'value'],
      [{}, 'value'],
    ],
  },
  counterpartyAgeHours: {
    // A millisecond less than a day.
    matching: [
      { op: 'lt', value: '24' },
      { op: 'gt', value: '23.99999' },
      { op: 'between', min: '0', max: '24' },
    ],
    other: [
      { op: 'gte', value: '24' },
      { op: 'lt', value: '1' },
    ],
    faulty: [
      [{ op: 'lt', value: 24 }, 'value.value'],
      [{ op: 'lt', value: '-1' }, 'value.value'],
      ['24', 'value'],
    ],
  },
  destinationAgeHours: {
    // A millisecond less than an hour, at a counterparty of almost a day.
    matching: [
      { op: 'lt', value: '1' },
      { op: 'gt', value: '0.99999' },
      { op: 'between', min: '0', max: '1' },
    ],
    other: [
      { op: 'gte', value: '1' },
      { op: 'gt', value: '23' },
    ],
    faulty: [
      [{ op: 'lt', value: 24 }, 'value.value'],
      ['24', 'value'],
    ],
  },
  firstPaymentToDestination: flagCases(true),
  addressLookAlike: flagCases(false),
  initiatorKind: {
    matching: ['service', ['person', 'service']],
    other: ['person', ['person']],
    faulty: [
      ['Service', 'value'],
      [['person', 'toString'], 'value.1'],
      [[], 'value'],
      [true, 'value'],
    ],
  },
  category: setCases(['payroll', ['rent', 'payroll']], ['rent', 'Payroll', ['rent', 'toString'], '__proto__']),
  initiator: setCases(
    ['first-approver', ['second-approver', 'first-approver']],
    ['second-approver', 'First approver', '__proto__'],
  ),
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
    it(`${selectorType} matches only the values that it names`, () => {
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

    it(`T34 ${selectorType} refuses a bad value, and a stored one is unknown`, () => {
      for (const [value, field] of faulty) {
        expect(findSelectorFault('transfer', selectorType, value)?.field, JSON.stringify(value)).toBe(field)
        expect(evaluateSelector({ selectorType, value }, facts)).toEqual({ matched: null, observed: null })
      }
    })

    it(`${selectorType} is unknown without its fact`, () => {
      const factless = evaluateSelector({ selectorType, value: matching[0] }, withoutFacts).matched
      // The initiator and the time are always known.
      if (selectorType === 'initiator' || selectorType === 'time') expect(factless).toBe(true)
      else if (selectorType === 'initiatorGroup') expect(factless).toBe(false)
      else expect(factless).toBeNull()
    })
  }

  it('have schemas that accept valid values and refuse invalid values', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
    const described = new Map(
      describeSelectors('transfer').map((description) => [description.selectorType, description]),
    )
    const lenient: string[] = []
    for (const [selectorType, { matching, other, faulty }] of Object.entries(table)) {
      const { valueSchema, operators } = described.get(selectorType)!
      const admits = ajv.compile(valueSchema)
      for (const value of [...matching, ...other]) expect(admits(value), JSON.stringify(value)).toBe(true)
      const ops = [...matching, ...other].flatMap((value) => (value as { op?: string }).op ?? [])
      expect(operators).toEqual(expect.arrayContaining(ops))
      for (const [value, field] of faulty) if (admits(value)) lenient.push(`${selectorType} ${field}`)
    }
    // The schemas refuse all other faulty values.
    const beyondSchemas = ['amount value.min', 'time value.timezone', 'time value.to']
    const checksums = ['sourceAddress', 'destination'].flatMap((name) => [`${name} value`, `${name} value.1`])
    expect(new Set(lenient)).toEqual(new Set([...beyondSchemas, ...checksums]))
  })

  it('sourceAddress is unknown without the fact that its value needs', () => {
    const bySelector = (value: string, known: Partial<Facts>) =>
      evaluateSelector({ selectorType: 'sourceAddress', value }, { ...withoutFacts, ...known }).matched
    expect(bySelector('address-1', { sourceAddressId: 'address-1' })).toBe(true)
    expect(bySelector(evmAddress, { sourceAddressId: 'address-1' })).toBeNull()
    expect(bySelector('address-1', { sourceAddress: evmAddress })).toBeNull()
    expect(bySelector(bitcoinAddress.toUpperCase(), { sourceAddress: bitcoinAddress })).toBe(true)
  })

  it('destination compares as the network does: exactly where case matters', () => {
    const address = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
    const tron = { address, key: address, networkType: 'tron' as const }
    const matches = (value: string) =>
      evaluateSelector({ selectorType: 'destination', value }, { ...facts, destination: tron }).matched
    expect(matches(address)).toBe(true)
    expect(matches(address.toLowerCase())).toBe(false)
  })

  it('T34 refuses selectors that are unknown or foreign to the action', () => {
    const refused = (actionType: string, selectorType: string) => findSelectorFault(actionType, selectorType, 'x')
    for (const name of ['ammount', '', 'constructor', '__proto__', 'toString']) {
      expect(refused('transfer', name)).toEqual({
        field: 'selectorType',
        message: `must be one of ${selectorTypes.join(', ')}`,
      })
      expect(evaluateSelector({ selectorType: name, value: 'x' }, facts)).toEqual({ matched: null, observed: null })
    }
    expect(refused('create_address', 'amount')?.message).toBe('the selector amount does not apply to create_address')
  })

  const ofEveryAction = ['initiator', 'initiatorGroup', 'initiatorKind', 'time']
  const aboutCounterparty = ['counterparty', 'counterpartyGroup', 'counterpartyKind', 'counterpartyAgeHours']
  const applicable: Record<string, string[]> = {
    transfer: selectorTypes.filter((name) => !ofEveryAction.includes(name)),
    create_address: ['network', 'routeVariant'],
    counterparty_create: ['counterpartyKind'],
    counterparty_update: aboutCounterparty,
    counterparty_archive: aboutCounterparty,
    counterparty_group_create: [],
    counterparty_group_update: ['counterpartyGroup'],
    counterparty_group_archive: ['counterpartyGroup'],
    counterparty_group_add: aboutCounterparty,
    counterparty_group_remove: aboutCounterparty,
    hold_place: [],
    hold_release: [],
    transfer_resolve: [],
    event_resolve: [],
  }
  it.each(actionTypes)('T34 %s takes exactly the selectors of its facts', (actionType) => {
    const taken = selectorTypes.filter((name) => findSelectorFault(actionType, name, table[name]?.matching[0]) === null)
    expect(taken.toSorted()).toEqual([...applicable[actionType]!, ...ofEveryAction].toSorted())
  })

  it('T34 velocity, USD and percent fail closed on missing facts', () => {
    const found = (selectorType: string, value: unknown, more: Partial<Facts>) =>
      evaluateSelector({ selectorType, value }, { ...facts, ...more }).matched
    const limit = (per: string, windowSeconds = 60) => ({ op: 'gte', value: '0', per, windowSeconds })
    expect(found('velocityUsd', limit('destination'), {})).toBeNull()
    expect(found('velocityAmount', limit('destination'), {})).toBe(true)
    expect(found('velocityUsd', limit('vault'), {})).toBe(true)
    const { usdRate: _, ...withoutRate } = facts
    expect(evaluateSelector({ selectorType: 'velocityUsd', value: limit('vault') }, withoutRate).matched).toBeNull()
    expect(found('velocityCount', limit('sourceAddress'), {})).toBeNull()
    expect(found('velocityCount', limit('vault', 61), {})).toBeNull()
    expect(found('percentOfBalance', { op: 'gte', value: '0' }, { available: '0' })).toBeNull()
  })

  it('a destination outside the address book has no counterparty and no age', () => {
    const found = (selectorType: string, value: unknown) =>
      evaluateSelector({ selectorType, value }, { ...facts, counterparty: null }).matched
    expect(found('counterparty', 'supplier')).toBe(false)
    expect(found('counterpartyGroup', 'trusted')).toBe(false)
    expect(found('counterpartyKind', 'company')).toBe(false)
    expect(found('counterpartyAgeHours', { op: 'gte', value: '0' })).toBeNull()
  })

  it('T34 the age of an address is its own, and unknown where the address book does not have it', () => {
    const found = (op: string, value: string, more: Partial<Facts> = {}) =>
      evaluateSelector({ selectorType: 'destinationAgeHours', value: { op, value } }, { ...facts, ...more })
    const ofCounterparty = { selectorType: 'counterpartyAgeHours', value: { op: 'gt', value: '23' } }
    expect([evaluateSelector(ofCounterparty, facts).matched, found('gt', '23').matched]).toEqual([true, false])
    expect(found('gte', '0', { destinationAddedAt: null })).toEqual({ matched: null, observed: null })
    // A clock that was set back makes nothing older than it is.
    expect(found('lte', '0', { destinationAddedAt: '2026-01-30T10:00:00.000Z' })).toEqual({
      matched: true,
      observed: '0',
    })
  })

  it('counterpartyGroup tests the group that the action changes, if it changes a group', () => {
    const found = (value: string, more: Partial<Facts>) =>
      evaluateSelector({ selectorType: 'counterpartyGroup', value }, { ...facts, ...more }).matched
    expect(found('trusted', { counterpartyGroupIds: ['new'] })).toBe(false)
    expect(found('new', { counterpartyGroupIds: ['new'] })).toBe(true)
  })

  it('T34 category is certainly none of those it names for an operation that is declared to be of none', () => {
    const found = (more: Partial<Facts>) =>
      evaluateSelector({ selectorType: 'category', value: ['payroll', 'null'] }, { ...withoutFacts, ...more })
    expect(found({ category: null })).toEqual({ matched: false, observed: null })
    expect(found({})).toEqual({ matched: null, observed: null })
  })

  it('addressGroup observes only the folders of the address that its value names', () => {
    const found = (value: unknown) => evaluateSelector({ selectorType: 'addressGroup', value }, facts)
    expect(found(['folder-2', 'x'])).toEqual({ matched: true, observed: ['folder-2'] })
    expect(found('x')).toEqual({ matched: false, observed: [] })
    const inNone = { ...facts, addressGroupIds: [] }
    expect(evaluateSelector({ selectorType: 'addressGroup', value: 'folder-2' }, inNone).matched).toBe(false)
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

function velocityCases(matching: object[], other: object[], faulty: [unknown, string][] = []) {
  const common = { windowSeconds: 3600, per: 'initiator' }
  const limit = (more: object) => ({ op: 'gt', value: '1', ...common, ...more })
  const refused: [unknown, string][] = [
    ['1000', 'value'],
    [[], 'value'],
    [limit({ op: 'between' }), 'value.op'],
    [limit({ op: 'toString' }), 'value.op'],
    [limit({ value: 5 }), 'value.value'],
    [limit({ value: '-5' }), 'value.value'],
    [limit({ value: '1e3' }), 'value.value'],
    [limit({ windowSeconds: 59 }), 'value.windowSeconds'],
    [limit({ windowSeconds: 2_592_001 }), 'value.windowSeconds'],
    [limit({ windowSeconds: 60.5 }), 'value.windowSeconds'],
    [limit({ windowSeconds: '3600' }), 'value.windowSeconds'],
    [limit({ windowSeconds: undefined }), 'value.windowSeconds'],
    [limit({ per: 'token' }), 'value.per'],
    [limit({ per: 'constructor' }), 'value.per'],
    [limit({ per: ['initiator'] }), 'value.per'],
    [limit({ perr: 'vault' }), 'value.perr'],
    [JSON.parse('{"op":"gt","value":"1","windowSeconds":60,"per":"vault","__proto__":{}}'), 'value.__proto__'],
  ]
  return {
    matching: matching.map((example) => ({ ...common, ...example })),
    other: other.map((example) => ({ ...common, ...example })),
    faulty: [...refused, ...faulty],
  }
}

function flagCases(fact: boolean) {
  const faulty: [unknown, string][] = ['true', 1, null, [fact], {}].map((value) => [value, 'value'])
  return { matching: [fact], other: [!fact], faulty }
}

function addressCases(matching: unknown[], other: unknown[]) {
  const cases = setCases(matching, other)
  const wrongChecksum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'
  cases.faulty.push([wrongChecksum, 'value'], [['ok', wrongChecksum], 'value.1'], ['two words', 'value'])
  return cases
}
