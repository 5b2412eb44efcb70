import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { compareFlows, flowsByKey, grossUsd } from '../flows.ts'

/** One entry per owner of an own address. */
export function breakDownByOwner(activity: Activity, callerId: string) {
  return [...flowsByKey(activity.byOwner, activity)].sort(compareFlows).map(([ownerId, flow]) => ({
    ownerId,
    owner: activity.owners.get(ownerId)!,
    isMe: ownerId === callerId,
    operationsCount: flow.count,
    grossTurnoverUsd: formatUsd(grossUsd(flow)),
  }))
}
