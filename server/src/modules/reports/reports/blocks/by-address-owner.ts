import type { Static } from 'typebox'
import { Type } from 'typebox'
import { Closed, Id } from '../../../../http/schema.ts'
import type { Activity } from '../activity.ts'
import { formatUsd } from '../exact.ts'
import { compareFlows, flowsByKey, grossUsd } from '../flows.ts'
import { Count, Profile, Usd } from '../schema.ts'

export const ActivityByAddressOwner = Closed(
  {
    ownerId: Id,
    owner: Profile,
    isMe: Type.Boolean({ examples: [true] }),
    operationsCount: Count,
    grossTurnoverUsd: Usd,
  },
  { $id: 'ActivityByAddressOwner' },
)

/** One entry per owner of an own address. */
export function breakDownByOwner(activity: Activity, callerId: string): Static<typeof ActivityByAddressOwner>[] {
  return [...flowsByKey(activity.byOwner, activity)].sort(compareFlows).map(([ownerId, flow]) => ({
    ownerId,
    owner: activity.owners.get(ownerId)!,
    isMe: ownerId === callerId,
    operationsCount: flow.count,
    grossTurnoverUsd: formatUsd(grossUsd(flow)),
  }))
}
