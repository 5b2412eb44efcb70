import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import type { PreparedStep } from '../../rules/votes/executor.ts'
import { lackOf, type RequirementState } from '../../rules/votes/tally.ts'
import type { InboxRow } from './queries.ts'
import type { InboxItem } from './schema.ts'

export function toInboxItem(row: InboxRow): Static<typeof InboxItem> {
  const { kind, transfer, steps } = row
  return {
    kind,
    id: row.id,
    vault: { id: row.vault_id, code: row.vault_code, name: row.vault_name },
    // The policies for transfers decide on a payout.
    actionType: row.action ?? 'transfer',
    status: row.status,
    initiator: row.initiator,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    payloadHash: row.payload_hash.toString('hex'),
    myDecision: row.decision,
    decidedAt: row.voted_at?.toISOString() ?? null,
    votes: votesOf(row.requirements),
    transfer: transfer && { ...transfer, amountDecimal: formatDecimal(transfer.amount, transfer.token.decimals) },
    approvalRequest: steps === null ? null : { subject: subjectOf(steps, row.target_name) },
    payout: row.payout,
  }
}

/**
 * Returns the votes of the requirement that lacks most votes; of several, the one with the highest threshold. Waived
 * requirements need none.
 */
export function votesOf(requirements: RequirementState[]): { given: number; needed: number } {
  const [strictest] = requirements
    .filter(({ bypassed }) => !bypassed)
    .toSorted((a, b) => lackOf(b) - lackOf(a) || b.threshold - a.threshold)
  if (strictest === undefined) return { given: 0, needed: 0 }
  const votes = strictest.approvalsCount
  // Votes of a group may be missing although the number of votes suffices.
  return { given: votes, needed: Math.max(strictest.threshold, votes + lackOf(strictest)) }
}

/** The fields that name the object in the payload of an action, in the order of preference. */
const naming = ['name', 'label', 'code', 'title'] as const

/** Returns the subject of the first step as the requester named it; otherwise the name or the id of the object that it changes. */
export function subjectOf(steps: PreparedStep[], targetName: string | null): string {
  const [first] = steps
  const payload = first?.step.payload ?? {}
  const { subjectName: held } = (payload.hold ?? {}) as { subjectName?: unknown }
  const names = [...naming.map((field) => payload[field]), held]
  const name = names.find((value) => typeof value === 'string' && value.trim() !== '')
  // Without a name: the operation or the network in the payload, else the target, else the action.
  const id = payload.operationId ?? payload.network ?? first?.targetId ?? first?.step.action ?? ''
  return String(name ?? targetName ?? id)
}
