import { describe, expect, it } from 'vitest'
import { failureWords, stepsOf } from './steps.ts'

type Facts = Parameters<typeof stepsOf>[0]

const requirement = {
  ...{ policyId: 'p', policyCode: 'p', threshold: 2, approvalsCount: 0, bypassed: false },
  ...{ votesMissing: 2, groups: [] },
}
const noAnswer = {
  verdict: null,
  score: null,
  reference: null,
  askedAt: null,
  answeredAt: null,
  attempts: 1,
  isWaived: false,
}
const ordered: Facts = {
  status: 'pending',
  createdAt: '2026-08-01T10:00:00.000Z',
  updatedAt: '2026-08-01T11:00:00.000Z',
  confirmedAt: null,
  handedOverAt: '2026-08-01T10:00:01.000Z',
  txHash: null,
  failureReason: null,
  haltReason: null,
  screening: null,
  approvalThreshold: 0,
  approvalRequirements: [],
  approvers: [],
}

describe('the steps of a transfer', () => {
  it.each<[string, Partial<Facts>, string]>([
    [
      'waits for votes',
      { status: 'awaiting_approval', approvalRequirements: [requirement] },
      'done current ahead ahead ahead',
    ],
    ['needs no vote', {}, 'done skipped done current ahead'],
    ['is being handed over', { handedOverAt: null }, 'done skipped current ahead ahead'],
    ['was waived', { approvalRequirements: [{ ...requirement, bypassed: true }] }, 'done skipped done current ahead'],
    ['is on the chain', { txHash: '0x1' }, 'done skipped done done current'],
    ['waits for the screening', { screening: { ...noAnswer, verdict: 'hold' } }, 'done skipped current ahead ahead'],
    ['is allowed by it', { screening: { ...noAnswer, verdict: 'allow' } }, 'done skipped done current ahead'],
    ['is released by people', { screening: { ...noAnswer, isWaived: true } }, 'done skipped done current ahead'],
    ['is halted', { haltReason: 'differs from its record' }, 'done skipped failed ahead ahead'],
    [
      'is confirmed',
      {
        status: 'confirmed',
        txHash: '0x1',
        approvalRequirements: [{ ...requirement, approvalsCount: 2, votesMissing: 0 }],
      },
      'done done done done done',
    ],
    [
      'was rejected',
      { status: 'rejected', approvalRequirements: [requirement] },
      'done failed skipped skipped skipped',
    ],
    [
      'was cancelled',
      { status: 'cancelled', approvalRequirements: [requirement] },
      'done failed skipped skipped skipped',
    ],
    [
      'was refused by the wallet',
      { status: 'failed', failureReason: 'WALLET_REFUSED: no gas' },
      'done skipped failed skipped skipped',
    ],
    ['failed before a hash', { status: 'failed', failureReason: 'no nonce' }, 'done skipped done failed skipped'],
    ['failed on the chain', { status: 'failed', txHash: '0x1' }, 'done skipped done done failed'],
  ])('of one that %s', (_name, facts, states) => {
    expect(
      stepsOf({ ...ordered, ...facts })
        .map(({ state }) => state)
        .join(' '),
    ).toBe(states)
  })

  it('count the votes of each policy', () => {
    const [, votes] = stepsOf({
      ...ordered,
      status: 'awaiting_approval',
      approvalRequirements: [
        { ...requirement, approvalsCount: 1, votesMissing: 1 },
        { ...requirement, policyId: 'q', threshold: 1, approvalsCount: 3, votesMissing: 0 },
      ],
    })
    expect(votes?.detail).toBe('1 of 2 · 1 of 1')
  })
})

describe('why it failed, in words', () => {
  it.each([
    ['APPROVAL_EXPIRED', 'The time to vote ended before there were enough votes'],
    ['WALLET_REFUSED: no gas', 'The wallet service refused the transfer: no gas'],
    ['SCREENING_BLOCKED: case-1', 'Refused by the screening: case-1'],
    ['NO_LONGER_ALLOWED: blocked', 'No longer allowed at the hand-over: blocked'],
    ['execution reverted', 'execution reverted'],
  ])('%s', (reason, words) => {
    expect(failureWords(reason)).toBe(words)
  })
})
