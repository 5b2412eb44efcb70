import { expect, it } from 'vitest'
import { codeOf, faultOfDivision, structureOf } from './structure.ts'

it('makes the routes of a vault', () => {
  const routes = structureOf(
    [{ coinType: 60, code: 'ethereum', name: 'Ethereum' }],
    [{ name: 'Desk', values: 'Operations, Payroll,' }],
  )
  expect(routes).toEqual({
    network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
    desk: {
      order: 1,
      name: 'Desk',
      variants: [
        { id: 1, code: 'operations', name: 'Operations' },
        { id: 2, code: 'payroll', name: 'Payroll' },
      ],
    },
    index: { order: 2, name: 'Index', dynamic: true },
  })
})

it.each([
  ['Treasury Desk', 'treasury-desk'],
  ['  Zürich & Genève ', 'zurich-geneve'],
  ['***', ''],
])('the code of "%s" is "%s"', (name, code) => expect(codeOf(name)).toBe(code))

it.each([
  [{ name: 'Desk', values: 'Operations' }, [], null],
  [{ name: '', values: 'Operations' }, [], 'name'],
  [{ name: 'Index', values: 'Operations' }, [], 'twice'],
  [{ name: 'Desk', values: 'Operations' }, [{ name: 'desk', values: '' }], 'twice'],
  [{ name: 'Desk', values: ' , ' }, [], 'values'],
  [{ name: 'Desk', values: 'AA, aa' }, [], 'twice'],
])('the division %o beside %o has the fault %s', (division, others, fault) =>
  expect(faultOfDivision(division, others)).toBe(fault),
)
