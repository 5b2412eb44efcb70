import { beforeAll, describe, expect, it, vi } from 'vitest'
import { decisionSentence, policySentence, ruleSentence, selectorSentence } from './trace.ts'

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en-US'] })
})

const names: Record<string, string> = {
  'token usdt-id': 'USDT',
  'token USDT': 'USDT',
  'person u1': 'Ada',
  'policyGroup g1': 'Treasury',
  'counterparty c1': 'Northwind',
  'policy p1': 'Large transfers',
}
const nameOf = (kind: string, id: string) => names[`${kind} ${id}`] ?? id

describe('a comparison in words', () => {
  it.each([
    ['amount', true, { op: 'gt', value: '1000' }, '2500.5', 'The amount (2,500.5) is more than 1,000.'],
    ['amount', false, { op: 'lte', value: '100' }, '2500', 'The amount (2,500) is not at most 100.'],
    ['amount', true, { op: 'between', min: '1', max: '5' }, '2', 'The amount (2) is between 1 and 5.'],
    [
      'amountUsd',
      true,
      { op: 'gte', value: '25000' },
      '30000.00',
      'The value in USD ($30,000.00) is at least $25,000.00.',
    ],
    [
      'percentOfBalance',
      false,
      { op: 'gt', value: '50' },
      '12.34567',
      'The share of what is available (12.34 %) is not more than 50 %.',
    ],
    [
      'velocityAmount',
      false,
      { op: 'gt', value: '40000', windowSeconds: 86_400, per: 'sourceAddress' },
      '500',
      'The sum of the transfers of this token from the same address within 1 day (500) is not more than 40,000.',
    ],
    [
      'velocityCount',
      true,
      { op: 'gt', value: '3', windowSeconds: 5_400, per: 'vault' },
      '4',
      'The number of transfers in the whole vault within 90 minutes (4) is more than 3.',
    ],
    ['token', true, ['USDT', 'ETH'], 'USDT', 'The token (USDT) is USDT or ETH.'],
    ['token', false, 'usdt-id', 'ETH', 'The token (ETH) is not USDT.'],
    ['destinationType', true, ['unknown'], 'unknown', 'The recipient is unknown to the address book.'],
    ['counterparty', true, 'c1', 'c1', 'The counterparty is Northwind.'],
    ['counterparty', false, 'c1', null, 'The counterparty (none) is not Northwind.'],
    [
      'counterpartyKind',
      true,
      ['individual', 'other'],
      'other',
      'The kind of the counterparty (something else) is a person or something else.',
    ],
    ['initiator', true, 'u1', 'u1', 'The initiator is Ada.'],
    ['initiatorGroup', false, 'g1', [], 'The group of the initiator (none) is not Treasury.'],
    [
      'routeVariant',
      true,
      { route: 'purpose', variant: 'payroll' },
      [{ route: 'purpose', variant: 'payroll' }],
      'The purpose of the paying address is purpose: payroll.',
    ],
    [
      'time',
      false,
      { timezone: 'Europe/Berlin', days: ['mon', 'fri'], from: '09:00', to: '17:00' },
      '2026-08-03T20:30+02:00[Europe/Berlin]',
      'The time of the order (Mon 08:30 PM) is not within Mon, Fri, 09:00 to 17:00 (Europe/Berlin).',
    ],
    [
      'amountUsd',
      true,
      { op: 'gt', value: '1' },
      null,
      'The value in USD counts as more than $1.00, because the value is unknown or hidden from you.',
    ],
    [
      'amountUsd',
      false,
      { op: 'gt', value: '1' },
      null,
      'The value in USD does not count as more than $1.00, because the value is unknown or hidden from you.',
    ],
    ['somethingNew', true, 'x', 'x', 'The property “somethingNew” is x.'],
  ])('%s %s', (selectorType, matched, expected, observed, sentence) => {
    // The version of ICU decides on the space before PM and the comma after the day.
    const words = selectorSentence({ selectorType, matched, expected, observed }, nameOf)
      .replaceAll(/\s+/g, ' ')
      .replace('(Mon, ', '(Mon ')
    expect(words).toBe(sentence)
  })
})

describe('a rule in words', () => {
  it.each([
    ['require', true, 'All of these conditions are met:'],
    ['require', false, 'All of these conditions must be met:'],
    ['any', true, 'At least one of these conditions is met:'],
    ['any', false, 'At least one of these conditions must be met:'],
    ['exclude', true, 'None of these conditions is met:'],
    ['exclude', false, 'None of these conditions may be met:'],
  ])('%s %s', (conditionType, matched, sentence) => {
    expect(ruleSentence({ conditionType, matched })).toBe(sentence)
  })
})

describe('a policy in words', () => {
  const policy = { policyId: 'p1', policyCode: 'large', rules: [] }
  it.each([
    [{ ...policy, matched: true }, 'p1', '“Large transfers” applied and decided.'],
    [{ ...policy, matched: true }, null, '“Large transfers” applied.'],
    [{ ...policy, matched: false }, 'p1', '“Large transfers” did not apply.'],
    [
      { ...policy, matched: true, inDoubt: true },
      'p1',
      '“Large transfers” could not be decided with certainty, so the stricter outcome counts.',
    ],
    [{ ...policy, policyId: 'gone', matched: true }, null, '“large” applied.'],
  ])('%o', (trace, decidedBy, sentence) => {
    expect(policySentence(trace, decidedBy, nameOf)).toBe(sentence)
  })
})

describe('the decision in words', () => {
  it.each([
    ['allow', 0, '“Small” allows it without a vote.'],
    ['approval', 1, '“Small” asks for 1 vote.'],
    ['approval', 2, '“Small” asks for 2 votes.'],
    ['block', 0, '“Small” forbids it.'],
    ['deny', 0, 'No policy allows it.'],
  ])('%s with %i votes', (effect, votes, sentence) => {
    expect(decisionSentence({ effect, policy: 'Small', votes })).toBe(sentence)
  })
})
