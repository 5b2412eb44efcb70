import { expect, it } from 'vitest'
import { coin, dollar, golden } from '../../../testing/golden-activity.ts'
import { breakDownByOwnAddress } from './breakdowns.ts'

it('breaks down operations by own address', () => {
  const details = { label: null, segments: { purpose: 1 }, folderSnapshots: [] }
  expect(breakDownByOwnAddress(golden)).toEqual([
    {
      addressId: 'a1',
      address: '0xa1',
      derivationPath: 'm/a1',
      ...details,
      incomingByAsset: [coin('3.5')],
      outgoingByAsset: [coin('0.51')],
      grossTurnoverUsd: '40.15',
      operationsCount: 4,
    },
    {
      addressId: 'a2',
      address: '0xa2',
      derivationPath: 'm/a2',
      ...details,
      incomingByAsset: [dollar('7')],
      outgoingByAsset: [dollar('4')],
      grossTurnoverUsd: '4.00',
      operationsCount: 3,
    },
  ])
})
