import { describe, expect, it } from 'vitest'
import { canonicalValue, type FieldDefinition } from './field-values.ts'

const field = (type: FieldDefinition['type'], rest: Partial<FieldDefinition> = {}): FieldDefinition => ({
  type,
  options_json: null,
  scale: null,
  ...rest,
})
const text = field('text')
const number = field('number')
const twoDigits = field('number', { scale: 2 })
const noDigits = field('number', { scale: 0 })
const eighteen = field('number', { scale: 18 })
const currency = field('currency')
const yen = field('currency', { scale: 0 })
const select = field('select', {
  options_json: [
    { value: 'cc_100', label: 'Marketing' },
    { value: 'constructor', label: 'Building' },
  ],
})
const date = field('date')
const datetime = field('datetime')
const boolean = field('boolean')
const url = field('url')

const everyType = [text, number, currency, select, date, datetime, boolean, url]
const digits = (count: number) => '9'.repeat(count)
const urlOf = (length: number) => 'https://example.org/'.padEnd(length, 'x')

const accepted: [label: string, field: FieldDefinition, value: unknown, canonical: string | null][] = [
  ['a text as it is', text, ' Rent, "Q1"\n2026 ', ' Rent, "Q1"\n2026 '],
  ['a text that names a prototype', text, '__proto__', '__proto__'],
  ['the longest text', text, 'x'.repeat(2000), 'x'.repeat(2000)],
  ['the longest text by characters, not UTF-16 units', text, '🏦'.repeat(2000), '🏦'.repeat(2000)],
  ['an empty text as no value', text, '', null],
  ['white space as no value', text, ' \t\n', null],
  ['a whole number', number, '42', '42'],
  ['zero', number, '0', '0'],
  ['a negative number', number, '-12.5', '-12.5'],
  ['a number without needless zeros', number, '1.500', '1.5'],
  ['a number whose fraction is zero', number, '1.000', '1'],
  ['no negative zero', number, '-0.00', '0'],
  ['the most fraction digits', number, `0.${digits(18)}`, `0.${digits(18)}`],
  ['the most digits', number, digits(38), digits(38)],
  ['a JSON number', number, 5, '5'],
  ['a JSON number with a fraction', number, -12.5, '-12.5'],
  ['a JSON number of zero', number, 0, '0'],
  ['no negative zero as a JSON number', number, -0, '0'],
  ['a JSON number padded to its scale', twoDigits, 5, '5.00'],
  ['the largest JSON number', number, 999_999_999_999_999, digits(15)],
  ['the most fraction digits of a JSON number', number, 0.123456789012345, '0.123456789012345'],
  ['a JSON number whose zeros before the first digit do not count', number, 0.00000123456789, '0.00000123456789'],
  ['a number padded to its scale', twoDigits, '1.5', '1.50'],
  ['a whole number padded to its scale', twoDigits, '7', '7.00'],
  ['a negative number padded to its scale', twoDigits, '-0.5', '-0.50'],
  ['no negative zero with a scale', twoDigits, '-0', '0.00'],
  ['zeros beyond the scale', twoDigits, '1.5000', '1.50'],
  ['a number without a fraction', noDigits, '3.0', '3'],
  ['the longest scale', eighteen, '1', `1.${'0'.repeat(18)}`],
  ['a currency with two digits', currency, '1234.5', '1234.50'],
  ['a negative currency', currency, '-3', '-3.00'],
  ['a currency without fraction', yen, '1200', '1200'],
  ['an option', select, 'cc_100', 'cc_100'],
  ['an option that is called like a member of every object', select, 'constructor', 'constructor'],
  ['a day', date, '2026-01-31', '2026-01-31'],
  ['a leap day', date, '2024-02-29', '2024-02-29'],
  ['an instant in UTC', datetime, '2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
  ['an instant elsewhere', datetime, '2026-01-31T23:30:00.25-05:00', '2026-02-01T04:30:00.250Z'],
  ['an instant cut to the millisecond', datetime, '2026-01-31T09:30:00.123456Z', '2026-01-31T09:30:00.123Z'],
  ['true', boolean, true, 'true'],
  ['false, which is a value', boolean, false, 'false'],
  ['an https URL', url, 'https://example.org/a?b=c#d', 'https://example.org/a?b=c#d'],
  ['an http URL', url, 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['the longest URL', url, urlOf(2048), urlOf(2048)],
]

const refused: [label: string, field: FieldDefinition, value: unknown, fault: RegExp][] = [
  ['a text that is too long', text, 'x'.repeat(2001), /^must not be longer than 2000 characters$/],
  ['a text with a NUL', text, 'a\0b', /NUL/],
  ['a text that is a number', text, 1, /^must be a string$/],
  ['a text that is a list', text, ['a'], /^must be a string$/],
  ['a text that is an object', text, { toString: 'a' }, /^must be a string$/],
  ['a JSON number of 16 digits', number, 1_000_000_000_000_000, /or a JSON number of at most 15 significant digits$/],
  ['a JSON number that no double holds', number, 0.1 + 0.2, /or a JSON number of at most 15 significant digits$/],
  ['a small JSON number that needs an exponent', number, 1e-7, /^must be a plain decimal number/],
  ['a large JSON number that needs an exponent', number, 1e21, /^must be a plain decimal number/],
  ['a JSON number with more digits than the scale', twoDigits, 1.005, /^must not have more than 2 fraction digits$/],
  ['a truth value as a number', number, true, /^must be a decimal number in a string, or/],
  ['a JSON number as a currency', currency, 1.5, /^must be a decimal number in a string$/],
  ['an exponent', number, '1e3', /^must be a plain decimal number/],
  ['a plus', number, '+1', /^must be a plain decimal number/],
  ['a leading zero', number, '01', /^must be a plain decimal number/],
  ['a thousands mark', number, '1,000', /^must be a plain decimal number/],
  ['no digit before the point', number, '.5', /^must be a plain decimal number/],
  ['no digit after the point', number, '1.', /^must be a plain decimal number/],
  ['white space around', number, ' 1', /^must be a plain decimal number/],
  ['a line break after', number, '1\n', /^must be a plain decimal number/],
  ['two signs', number, '--1', /^must be a plain decimal number/],
  ['nothing', number, '', /^must be a plain decimal number/],
  ['a hexadecimal number', number, '0x10', /^must be a plain decimal number/],
  ['a text that is not a number', number, 'NaN', /^must be a plain decimal number/],
  ['digits of another script', number, '١', /^must be a plain decimal number/],
  ['too many digits', number, digits(39), /^must be a plain decimal number/],
  ['too many fraction digits', number, `0.${digits(19)}`, /^must not have more than 18 fraction digits$/],
  ['more fraction digits than the scale', twoDigits, '1.005', /^must not have more than 2 fraction digits$/],
  ['a fraction in a field without fraction digits', noDigits, '1.5', /^must not have more than 0 fraction digits$/],
  ['more than two digits of a currency', currency, '0.001', /^must not have more than 2 fraction digits$/],
  ['a value that is not an option', select, 'cc_999', /^must be the value of one of the options$/],
  ['the label of an option', select, 'Marketing', /^must be the value of one of the options$/],
  ['the name of a member of every object', select, 'toString', /^must be the value of one of the options$/],
  ['a select without options', field('select'), 'a', /^must be the value of one of the options$/],
  ['an empty option', select, '', /^must be the value of one of the options$/],
  ['a day that does not exist', date, '2024-02-30', /^must be a day of the calendar/],
  ['a leap day of another year', date, '2025-02-29', /^must be a day of the calendar/],
  ['a month that does not exist', date, '2024-13-01', /^must be a day of the calendar/],
  ['a day without zeros', date, '2024-2-3', /^must be a day of the calendar/],
  ['an instant as a day', date, '2024-02-03T00:00:00Z', /^must be a day of the calendar/],
  ['a day as an instant', datetime, '2026-01-31', /^must be an ISO 8601 timestamp with an offset/],
  ['an instant without an offset', datetime, '2026-01-31T09:30:00', /^must be an ISO 8601 timestamp with an offset/],
  ['an hour that does not exist', datetime, '2026-01-31T24:00:00Z', /^must be an ISO 8601 timestamp with an offset/],
  ['a day of an instant that does not exist', datetime, '2026-02-30T09:30:00Z', /^must be an ISO 8601 timestamp/],
  ['an instant before the first year', datetime, '0000-01-01T00:00:00+01:00', /^must be an ISO 8601 timestamp/],
  ['an instant after the last year', datetime, '9999-12-31T23:59:59-01:00', /^must be an ISO 8601 timestamp/],
  ['the word true', boolean, 'true', /^must be true or false$/],
  ['the number 1 as true', boolean, 1, /^must be true or false$/],
  ['a script', url, 'javascript:alert(1)', /^must be an http or https URL$/],
  ['a script behind a line break', url, 'https://\nexample.org', /^must be an http or https URL$/],
  ['another scheme', url, 'ftp://example.org', /^must be an http or https URL$/],
  ['no scheme', url, '//example.org', /^must be an http or https URL$/],
  ['no host', url, 'https://', /^must be an http or https URL$/],
  ['a host that cannot be', url, 'https://exa mple.org', /^must be an http or https URL$/],
  ['a port that cannot be', url, 'https://example.org:99999', /^must be an http or https URL$/],
  ['white space before', url, ' https://example.org', /^must be an http or https URL$/],
  ['a URL that is too long', url, urlOf(2049), /^must not be longer than 2048 characters$/],
]

describe('canonicalValue', () => {
  it.each(accepted)('takes %s', (_, of, value, canonical) => {
    expect(canonicalValue(of, value)).toEqual({ canonical })
  })

  it.each(refused)('refuses %s', (_, of, value, fault) => {
    expect(canonicalValue(of, value)).toEqual({ fault: expect.stringMatching(fault) })
  })

  it('takes null as no value, and refuses a NUL, whatever the type', () => {
    for (const of of everyType) {
      expect(canonicalValue(of, null)).toEqual({ canonical: null })
      expect(canonicalValue(of, undefined)).toEqual({ canonical: null })
      expect(canonicalValue(of, '\0')).toHaveProperty('fault')
    }
  })

  it('keeps a canonical string as it is', () => {
    for (const [, of, , canonical] of accepted) {
      if (of === boolean || canonical === null) continue
      expect(canonicalValue(of, canonical)).toEqual({ canonical })
    }
  })
})
