import { expect, it } from 'vitest'
import { nextStatus, releasesFunds, type TransferEvent } from './lifecycle.ts'

const statuses = ['awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled'] as const
const events: TransferEvent[] = ['approved', 'rejected', 'expired', 'cancelled', 'confirmed', 'failed']

it('moves only as specified: 7 of 36 combinations', () => {
  const possible = statuses.flatMap((status) =>
    events.flatMap((event) => {
      const next = nextStatus(status, event)
      return next === null ? [] : [`${status} ${event} ${next}`]
    }),
  )
  expect(possible).toEqual([
    'awaiting_approval approved pending',
    'awaiting_approval rejected rejected',
    'awaiting_approval expired rejected',
    'awaiting_approval cancelled cancelled',
    'pending cancelled cancelled',
    'pending confirmed confirmed',
    'pending failed failed',
  ])
})

it('gives funds back in every end but one', () => {
  expect(statuses.filter(releasesFunds)).toEqual(['failed', 'rejected', 'cancelled'])
})
