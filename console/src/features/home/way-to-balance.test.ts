import { expect, it } from 'vitest'
import { wayToBalance } from './way-to-balance.ts'

it('leads from the balance before to the balance now, to the cent', () => {
  const sums = { opening: '1000.00', closing: '1249.42', incoming: '500.10', outgoing: '250.05', fees: '0.63' }
  expect(wayToBalance(sums)).toEqual({
    opening: '1000.00',
    net: '250.05',
    fees: '-0.63',
    rest: '0.00',
    closing: '1249.42',
  })
  expect(wayToBalance({ ...sums, closing: '9.00', fees: '0.00' })).toMatchObject({ fees: '0.00', rest: '-1241.05' })
  expect(wayToBalance({ ...sums, incoming: '0.00', outgoing: '0.05' })).toMatchObject({ net: '-0.05' })
})

it('is unknown while a balance is', () => {
  const sums = { incoming: '1.00', outgoing: '0.00', fees: '0.00' }
  expect(wayToBalance({ ...sums, opening: null, closing: '1.00' })).toBeNull()
  expect(wayToBalance({ ...sums, opening: '1.00', closing: null })).toBeNull()
})
