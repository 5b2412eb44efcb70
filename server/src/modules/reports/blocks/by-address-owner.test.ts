import { expect, it } from 'vitest'
import { golden } from '../../../testing/golden-activity.ts'
import { breakDownByOwner } from './breakdowns.ts'

it('marks the owner who is the caller', () => {
  expect(breakDownByOwner(golden, 'u2')).toEqual([
    { ownerId: 'u1', owner: golden.owners.get('u1'), isMe: false, operationsCount: 2, grossTurnoverUsd: '35.05' },
    { ownerId: 'u2', owner: golden.owners.get('u2'), isMe: true, operationsCount: 1, grossTurnoverUsd: '4.00' },
  ])
})
