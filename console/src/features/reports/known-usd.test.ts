import { expect, it } from 'vitest'
import { isZero, knownNet, knownUsd } from './known-usd.ts'

it.each([
  ['0.00', [], '0.00'],
  ['0.00', ['0', '0.000'], '0.00'],
  ['0.00', ['5'], null],
  ['12.00', ['5', '7'], '12.00'],
])('the USD value %s of %o is shown as %s', (usd, amounts, shown) => expect(knownUsd(usd, amounts)).toBe(shown))

it.each([
  ['1', '2', '1', '1'],
  ['1', null, '1', null],
  ['1', '2', null, null],
])('the net %s of %s and %s is shown as %s', (net, incoming, outgoing, shown) =>
  expect(knownNet(net, incoming, outgoing)).toBe(shown),
)

it.each([
  ['0', true],
  ['-0.00', true],
  ['0.000000000000000001', false],
  ['-3', false],
])('isZero("%s") is %s', (amount, expected) => expect(isZero(amount)).toBe(expected))
