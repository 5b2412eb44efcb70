import type { CategoryField } from '@strongroom/sdk'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { fieldsOf, formValuesOf, readForm } from './values.ts'

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en-US'] })
})

const field = (changes: Partial<CategoryField>): CategoryField => ({
  id: 'f',
  categoryId: 'c',
  key: 'f',
  label: 'F',
  type: 'text',
  required: false,
  optionsJson: null,
  scale: null,
  currencyFieldKey: null,
  unit: null,
  defaultJson: null,
  helpText: null,
  sensitive: false,
  orderIndex: 0,
  archived: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...changes,
})

describe('a form', () => {
  it.each<[Partial<CategoryField>, string, unknown]>([
    [{ type: 'text' }, ' INV-1 ', 'INV-1'],
    [{ type: 'text' }, ' ', null],
    [{ type: 'number' }, '1,234.50', '1234.50'],
    [{ type: 'number' }, '-3', '-3'],
    [{ type: 'currency' }, '10.99', '10.99'],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'boolean' }, '', null],
    [{ type: 'date' }, '2026-01-31', '2026-01-31'],
    [{ type: 'datetime' }, '2026-01-31T10:00', new Date('2026-01-31T10:00').toISOString()],
    [{ type: 'select' }, 'ops', 'ops'],
  ])('with the field %o and the text "%s" sends its value', (changes, text, value) => {
    expect(readForm([field(changes)], { f: text })).toEqual({ values: { f: value }, faults: [] })
  })

  it.each<[Partial<CategoryField>, string]>([
    [{ type: 'number' }, 'many'],
    [{ type: 'currency' }, '10.999'],
    [{ type: 'number', scale: 0 }, '1.5'],
    [{ type: 'datetime' }, 'soon'],
  ])('with the field %o refuses the text "%s"', (changes, text) => {
    expect(readForm([field(changes)], { f: text })).toEqual({ values: {}, faults: ['f'] })
  })
})

describe('a form that opens', () => {
  it('shows the default for a new assignment, and otherwise the assigned value', () => {
    const fields = [field({ type: 'boolean', defaultJson: true })]
    expect(formValuesOf(fields, null)).toEqual({ f: 'true' })
    expect(formValuesOf(fields, { f: 'false' })).toEqual({ f: 'false' })
    expect(formValuesOf(fields, {})).toEqual({ f: '' })
  })

  it('sends the values that it shows, if nobody changes them', () => {
    const fields = [field({ key: 'n', type: 'number' }), field({ key: 'at', type: 'datetime' })]
    const values = { n: '1234567.5', at: '2026-01-31T10:00:00.000Z' }
    expect(readForm(fields, formValuesOf(fields, values)).values).toEqual(values)
  })
})

it('the fields of a category are in their order, without archived fields', () => {
  const fields = [
    field({ key: 'b', orderIndex: 2 }),
    field({ key: 'a', orderIndex: 1 }),
    field({ key: 'c', archived: true }),
  ]
  expect(fieldsOf(fields).map(({ key }) => key)).toEqual(['a', 'b'])
})
