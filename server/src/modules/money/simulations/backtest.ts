import type { AddressScope } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import { backtestItemsMax, backtestPageRows } from '../../../lib/limits.ts'
import { decideFrom } from '../../rules/policies/decide.ts'
import type { Decision, Effect, Facts, PolicySnapshot, PolicyTrace } from '../../rules/policies/decision.ts'
import { candidatesUnder, type Drafts } from '../../rules/policies/draft-policies.ts'
import { listCandidates } from '../../rules/policies/queries.ts'
import { type DecidedTransfer, listDecidedTransfers, listGroupIds } from './queries.ts'

type Outcome = Pick<Decision, 'effect' | 'decisionPolicy' | 'requirements'>
export type Change = 'same' | 'stricter' | 'looser'
export type BacktestItem = {
  transfer: DecidedTransfer
  change: Change
  before: Outcome
  after: Outcome
  /** The result rests on a fact that was not recorded, which is assumed against the transfer. */
  inDoubt: boolean
  trace: PolicyTrace[]
}
export type Backtest = Record<Change, number> & {
  evaluated: number
  inDoubt: number
  /** The transfers whose decision changes. */
  items: BacktestItem[]
  next: Position | null
}

/**
 * Decides the transfers of an interval again, from the facts of their recorded decisions and by the drafts. It stops after
 * `limit` transfers, or when as many changes are found as one answer lists. Changes nothing.
 */
export async function backtest(
  db: Db,
  scope: AddressScope,
  drafts: Drafts,
  interval: { from: Date; to: Date },
  { after, limit }: Paging,
): Promise<Backtest> {
  const groups = await listGroupIds(db, scope.vaultId)
  const saved = await listCandidates(db, scope.vaultId, 'transfer', groups.all)
  const found: Backtest = { evaluated: 0, same: 0, stricter: 0, looser: 0, inDoubt: 0, items: [], next: null }
  for (let position = after; ; ) {
    const wanted = Math.min(backtestPageRows, limit - found.evaluated)
    // One more row shows whether another page follows.
    const rows = await listDecidedTransfers(db, scope, interval, { after: position, limit: wanted + 1 })
    for (const [index, transfer] of rows.slice(0, wanted).entries()) {
      const item = decideAgain(transfer, drafts, saved, groups.administrators)
      found.evaluated += 1
      found[item.change] += 1
      if (item.inDoubt) found.inDoubt += 1
      if (item.change !== 'same') found.items.push(item)
      position = { createdAt: transfer.created_at, id: transfer.id }
      const isFull = found.evaluated === limit || found.items.length === backtestItemsMax
      if (isFull) return { ...found, next: rows.length > index + 1 ? position : null }
    }
    if (rows.length <= wanted) return found
  }
}

function decideAgain(
  transfer: DecidedTransfer,
  drafts: Drafts,
  saved: PolicySnapshot[],
  administrators: string,
): BacktestItem {
  const { effect, decision_policy: decisionPolicy, requirements, facts: recorded } = transfer
  // A decision of an early version has none; everything is unknown then.
  const facts: Facts =
    recorded === null
      ? { now: transfer.created_at, initiatorId: '', initiatorGroupIds: [] }
      : { ...recorded, now: new Date(recorded.now) }
  const { initiatorGroupIds: groupIds } = facts
  const ofInitiator = saved.filter(({ groupId }) => groupIds.includes(groupId))
  const candidates = candidatesUnder(drafts, ofInitiator, { actionType: 'transfer', groupIds })
  const decision = decideFrom(candidates, facts, { isAdmin: groupIds.includes(administrators) })
  const before = { effect, decisionPolicy, requirements: requirements ?? [] }
  return {
    transfer,
    change: changeOf(before, decision),
    before,
    after: decision,
    inDoubt: decision.trace.some((policy) => policy.inDoubt),
    trace: decision.trace,
  }
}

const strictness: Record<Effect, number> = { allow: 0, approval: 1, deny: 2, block: 2 }

/** How the second outcome compares: by what happens, then by how many votes it takes; pure. */
export function changeOf(before: Outcome, after: Outcome): Change {
  const difference =
    strictness[after.effect] - strictness[before.effect] ||
    votesNeeded(after) - votesNeeded(before) ||
    waiting(after).length - waiting(before).length
  return difference === 0 ? 'same' : difference > 0 ? 'stricter' : 'looser'
}

const waiting = ({ requirements }: Outcome) => requirements.filter(({ bypassed }) => !bypassed)

/** The largest number of votes that one policy asks for. */
export const votesNeeded = (outcome: Outcome) => Math.max(0, ...waiting(outcome).map(({ threshold }) => threshold))
