import { describe, expect, it } from 'vitest'
import type { FieldType } from '../categories/schema.ts'
import { planValues } from './field-values.ts'

const field = (key: string, more: Partial<Parameters<typeof planValues>[0][number]> = {}) => ({
  key,
  type: 'text' as FieldType,
  options_json: null,
  scale: null,
  required: false,
  default_json: null,
  archived: false,
  ...more,
})
const invoice = field('invoice', { required: true })
const net = field('net', { type: 'number', scale: 2 })
const note = field('note', { default_json: 'as agreed' })
const old = field('old', { archived: true, required: true, default_json: 'never' })
const tricky = field('constructor')
const fields = [invoice, net, note, old, tricky]

const cases: [name: string, sent: Record<string, unknown>, current: Record<string, string> | null, plan: object][] = [
  [
    'takes values in canonical form',
    { invoice: '4711', net: '1500' },
    null,
    { invoice: '4711', net: '1500.00', note: 'as agreed' },
  ],
  ['null replaces a default', { invoice: '4711', note: null }, null, { invoice: '4711' }],
  [
    'an edit keeps the values of fields that it does not name',
    { net: '1.5' },
    { invoice: '1', note: 'x' },
    { invoice: '1', net: '1.50', note: 'x' },
  ],
  ['an edit does not bring defaults back', {}, { invoice: '1' }, { invoice: '1' }],
  ['null clears', { note: null }, { invoice: '1', note: 'x' }, { invoice: '1' }],
  [
    'a value as it is stored is not a change',
    { invoice: '1', old: 'y' },
    { invoice: '1', old: 'y' },
    { invoice: '1', old: 'y' },
  ],
  ['an archived field keeps its value', { invoice: '2' }, { invoice: '1', old: 'y' }, { invoice: '2', old: 'y' }],
  [
    'T37 a field may be called constructor',
    { invoice: '1', constructor: 'x' },
    null,
    { invoice: '1', note: 'as agreed', constructor: 'x' },
  ],
]
const faulty: [
  name: string,
  sent: Record<string, unknown>,
  current: Record<string, string> | null,
  faults: string[],
][] = [
  ['a missing value of a required field', {}, null, ['values.invoice: is required']],
  ['the removal of a required value', { invoice: null }, { invoice: '1' }, ['values.invoice: is required']],
  ['white space as a required value', { invoice: ' \t' }, { invoice: '1' }, ['values.invoice: is required']],
  ['an edit without a value that became required', { note: 'x' }, { note: 'y' }, ['values.invoice: is required']],
  ['unknown keys', { invoice: '1', amount: '2' }, null, ['values.amount: is not a field of this category']],
  [
    'T37 keys of prototypes',
    JSON.parse('{"invoice":"1","__proto__":"x","toString":"y","hasOwnProperty":"z"}'),
    null,
    ['__proto__', 'toString', 'hasOwnProperty'].map((key) => `values.${key}: is not a field of this category`),
  ],
  ['values for an archived field', { invoice: '1', old: 'x' }, null, ['values.old: is archived']],
  ['another value for an archived field', { old: 'x' }, { invoice: '1', old: 'y' }, ['values.old: is archived']],
  ['the removal of an archived value', { old: null }, { invoice: '1', old: 'y' }, ['values.old: is archived']],
  [
    'every wrong value at once',
    { net: true, note: 1.5 },
    null,
    [
      'values.invoice: is required',
      'values.net: must be a decimal number in a string, or a JSON number of at most 15 significant digits',
      'values.note: must be a string',
    ],
  ],
]

describe('values of an assignment', () => {
  it.each(cases)('%s', (_name, values, current, plan) => {
    expect(planValues(fields, values, current)).toEqual({ values: plan })
  })

  it.each(faulty)('refuses %s', (_name, values, current, faults) => {
    const outcome = planValues(fields, values, current)
    expect('faults' in outcome && outcome.faults.map(({ field, message }) => `${field}: ${message}`)).toEqual(faults)
  })
})
