import type { Transfer } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'

type StepState = 'done' | 'current' | 'failed' | 'skipped' | 'ahead'
/** A step. If `isRecent` is set, its display says how long ago it was. */
export type Step = { title: string; state: StepState; detail: string | null; at: string | null; isRecent?: boolean }

type StepFacts = Pick<
  Transfer,
  | 'status'
  | 'createdAt'
  | 'confirmedAt'
  | 'handedOverAt'
  | 'updatedAt'
  | 'txHash'
  | 'failureReason'
  | 'screening'
  | 'haltReason'
  | 'approvalThreshold'
  | 'approvalRequirements'
  | 'approvers'
>

/** Returns the steps of a transfer from its order to the chain, and marks the step where it stands or ended. */
export function stepsOf(transfer: StepFacts): Step[] {
  return [
    { title: t('Ordered'), state: 'done', detail: null, at: transfer.createdAt },
    votesStep(transfer),
    ...chainSteps(transfer),
  ]
}

function votesStep(transfer: StepFacts): Step {
  const { status, approvalRequirements } = transfer
  const needed = approvalRequirements.filter(({ bypassed }) => !bypassed)
  const title = t('Votes')
  if (needed.length === 0) {
    const waived = approvalRequirements.length > 0
    const detail = waived ? t('Waived: ordered by an administrator') : t('None needed')
    return { title, state: 'skipped', detail, at: null }
  }
  const counts = needed.map(({ approvalsCount, votesMissing, threshold: least }) => {
    // The votes of a required group may be missing although the total is reached.
    const threshold = votesMissing === 0 ? least : approvalsCount + votesMissing
    return t('{given} of {threshold}', { given: Math.min(approvalsCount, threshold), threshold })
  })
  const count = counts.join(' · ')
  if (status === 'awaiting_approval') return { title, state: 'current', detail: count, at: null }
  const isComplete = needed.every(({ votesMissing }) => votesMissing === 0)
  if (!isComplete && (status === 'rejected' || status === 'cancelled')) {
    return { title, state: 'failed', detail: endedBecause(transfer), at: transfer.updatedAt }
  }
  return { title, state: 'done', detail: count, at: lastVoteOf(transfer) }
}

function endedBecause({ status, failureReason }: StepFacts): string {
  if (status === 'cancelled') return t('Cancelled')
  return failureReason === null ? t('Rejected') : failureWords(failureReason)
}

function lastVoteOf({ approvers }: StepFacts): string | null {
  return (
    approvers
      .map(({ votedAt }) => votedAt)
      .filter((at) => at !== null)
      .sort()
      .at(-1) ?? null
  )
}

function chainSteps(transfer: StepFacts): Step[] {
  const { status, txHash, confirmedAt, handedOverAt, updatedAt, failureReason, haltReason, screening } = transfer
  const isUnderWay = status === 'pending' && txHash === null && handedOverAt === null
  const titles = [isUnderWay ? t('Handing over') : t('Handed over'), t('Broadcast'), t('Confirmed')]
  const step = (index: number, state: StepState, detail: string | null = null, at: string | null = null): Step => ({
    title: titles[index]!,
    state,
    detail,
    at,
  })
  const taken = step(0, 'done', null, handedOverAt)
  if (status === 'confirmed') return [taken, step(1, 'done'), step(2, 'done', null, confirmedAt)]
  if (status === 'pending') {
    if (haltReason !== null)
      return [step(0, 'failed', t('Halted: {reason}', { reason: haltReason })), step(1, 'ahead'), step(2, 'ahead')]
    if (txHash === null && screening !== null && screening.verdict !== 'allow' && !screening.isWaived)
      return [step(0, 'current', t('Waits for the screening')), step(1, 'ahead'), step(2, 'ahead')]
    if (isUnderWay) return [step(0, 'current'), step(1, 'ahead'), step(2, 'ahead')]
    const takenNow = { ...taken, isRecent: true }
    return txHash === null
      ? [takenNow, step(1, 'current', t('With the wallet service')), step(2, 'ahead')]
      : [takenNow, step(1, 'done'), step(2, 'current', t('Waits for the network'))]
  }
  if (status === 'failed') return failedSteps(step, txHash, failureReason, updatedAt)
  const state = status === 'awaiting_approval' ? 'ahead' : 'skipped'
  return [step(0, state), step(1, state), step(2, state)]
}

function failedSteps(
  step: (index: number, state: StepState, detail?: string | null, at?: string | null) => Step,
  txHash: string | null,
  failureReason: string | null,
  at: string,
): Step[] {
  const reason = failureReason === null ? t('Failed') : failureWords(failureReason)
  if (txHash !== null) return [step(0, 'done'), step(1, 'done'), step(2, 'failed', reason, at)]
  const refused = /^(WALLET_REFUSED|NO_LONGER_ALLOWED|SCREENING_BLOCKED)/.test(failureReason ?? '')
  return refused
    ? [step(0, 'failed', reason, at), step(1, 'skipped'), step(2, 'skipped')]
    : [step(0, 'done'), step(1, 'failed', reason, at), step(2, 'skipped')]
}

/** Describes the reason of a failure in words. The detail of the wallet service is shown unchanged. */
export function failureWords(reason: string): string {
  if (reason === 'APPROVAL_EXPIRED') return t('The time to vote ended before there were enough votes')
  const [, code = '', detail = ''] = /^([A-Z_]+)(?::\s*(.*))?$/s.exec(reason) ?? []
  if (code === 'WALLET_REFUSED') return t('The wallet service refused the transfer: {detail}', { detail })
  if (code === 'NO_LONGER_ALLOWED') return t('No longer allowed at the hand-over: {detail}', { detail })
  if (code === 'SCREENING_BLOCKED') return t('Refused by the screening: {detail}', { detail })
  if (code === 'RELEASED') return t('Released by two people: {detail}', { detail })
  return reason
}
