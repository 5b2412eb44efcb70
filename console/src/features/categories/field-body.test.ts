import { describe, expect, it } from 'vitest'
import {
  type FieldValues,
  fieldBodyOf,
  fieldChangeOf,
  fieldValuesOf,
  formatOptions,
  movesOf,
  parseOptions,
} from './field-body.ts'

const values = (change: Partial<FieldValues>): FieldValues => ({ ...fieldValuesOf(), key: 'k', label: 'L', ...change })

describe('the body of a field', () => {
  it.each<[Partial<FieldValues>, object]>([
    [{ defaultText: ' x ' }, { type: 'text', defaultJson: 'x', helpText: null }],
    [{ type: 'boolean', defaultText: 'false' }, { defaultJson: false }],
    [{ type: 'boolean' }, { defaultJson: null }],
    [
      { type: 'number', scale: '2', unit: ' kg ' },
      { scale: 2, unit: 'kg' },
    ],
    [
      { type: 'number', scale: '0' },
      { scale: 0, unit: null },
    ],
    [
      { type: 'currency', currencyFieldKey: 'ccy' },
      { currencyFieldKey: 'ccy', scale: null },
    ],
    [{ type: 'datetime', defaultText: '2026-05-01T10:00Z' }, { defaultJson: '2026-05-01T10:00:00.000Z' }],
    [
      { type: 'select', options: 'a = One\n\n b ' },
      {
        optionsJson: [
          { value: 'a', label: 'One' },
          { value: 'b', label: 'b' },
        ],
      },
    ],
  ])('of %j has %j', (change, body) => {
    expect(fieldBodyOf(values(change))).toMatchObject(body)
  })

  it('omits properties that its type does not have', () => {
    const body = fieldBodyOf(values({ type: 'text', options: 'a', scale: '2', unit: 'kg', currencyFieldKey: 'x' }))
    expect(Object.keys(body).toSorted()).toEqual(
      ['defaultJson', 'helpText', 'key', 'label', 'required', 'sensitive', 'type'].toSorted(),
    )
  })
})

describe('options', () => {
  it.each([
    [[]],
    [[{ value: 'a', label: 'a' }]],
    [
      [
        { value: 'a', label: 'One: two' },
        { value: 'b', label: 'b' },
      ],
    ],
  ])('%j are read as they are written', (options) => {
    expect(parseOptions(formatOptions(options))).toEqual(options)
  })
})

describe('a field that moves', () => {
  const fields = [
    { id: 'a', orderIndex: 0 },
    { id: 'b', orderIndex: 1 },
    { id: 'c', orderIndex: 2 },
  ]
  it.each([
    [
      'b',
      -1,
      [
        { id: 'b', orderIndex: 0 },
        { id: 'a', orderIndex: 1 },
      ],
    ],
    [
      'b',
      1,
      [
        { id: 'c', orderIndex: 1 },
        { id: 'b', orderIndex: 2 },
      ],
    ],
    ['a', -1, []],
    ['c', 1, []],
    ['x', 1, []],
  ] as const)('%s by %i', (id, by, moves) => {
    expect(movesOf(fields, id, by)).toEqual(moves)
  })

  it('gets its own position where several fields had the same', () => {
    const same = fields.map(({ id }) => ({ id, orderIndex: 0 }))
    expect(movesOf(same, 'c', -1)).toEqual([
      { id: 'c', orderIndex: 1 },
      { id: 'b', orderIndex: 2 },
    ])
  })
})

describe('a changed field', () => {
  it('sends only changed properties', () => {
    const before = values({ type: 'select', options: 'a = b = c' })
    expect(fieldChangeOf(before, { ...before, label: 'New' })).toEqual({ label: 'New' })
    expect(fieldChangeOf(before, { ...before, helpText: ' Why ', required: true })).toEqual({
      helpText: 'Why',
      required: true,
    })
    expect(fieldChangeOf(before, { ...before, options: 'a' })).toEqual({ optionsJson: [{ value: 'a', label: 'a' }] })
    expect(fieldChangeOf(before, before)).toEqual({})
  })
})
