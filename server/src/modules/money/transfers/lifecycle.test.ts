import { expect, it } from 'vitest'
import { phases } from '../../../lib/operations.ts'
import { isPhaseOf, mayMovePhase, nextStatus, releasesFunds, type TransferEvent } from './lifecycle.ts'

const statuses = ['awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled'] as const
const events: TransferEvent[] = ['approved', 'rejected', 'expired', 'cancelled', 'confirmed', 'failed']

it('a transfer moves only as specified: 7 of 36 combinations', () => {
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

it('every final status but `confirmed` releases the funds', () => {
  expect(statuses.filter(releasesFunds)).toEqual(['failed', 'rejected', 'cancelled'])
})

it('a delivery moves only forwards, except for transfers that were certainly not sent and resolutions: 29 of 49 combinations', () => {
  const possible = phases.flatMap((from) => phases.filter((to) => mayMovePhase(from, to)).map((to) => `${from} ${to}`))
  expect(possible).toEqual([
    'waiting queued',
    'waiting halted',
    'waiting done',
    'queued queued',
    'queued submitting',
    'queued halted',
    'queued done',
    'submitting queued',
    'submitting submitting',
    'submitting submitted',
    'submitting broadcast',
    'submitting halted',
    'submitting done',
    'submitted submitting',
    'submitted submitted',
    'submitted broadcast',
    'submitted halted',
    'submitted done',
    'broadcast submitting',
    'broadcast broadcast',
    'broadcast halted',
    'broadcast done',
    'halted waiting',
    'halted submitting',
    'halted submitted',
    'halted broadcast',
    'halted halted',
    'halted done',
    'done halted',
  ])
})

it('phases agree with the status', () => {
  const fitting = statuses.map((status) => phases.filter((phase) => isPhaseOf(status, phase)).join(' '))
  expect(fitting).toEqual([
    'waiting halted',
    'queued submitting submitted broadcast halted',
    'done',
    'done',
    'done',
    'done',
  ])
})
