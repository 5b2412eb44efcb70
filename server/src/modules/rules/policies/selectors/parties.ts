import { counterpartyKinds, initiatorKinds } from '../decision.ts'
import { ageSince, toMilliseconds } from './age.ts'
import { defineSelector, oncePerFacts, unknownFinding } from './selector.ts'
import { anySet, comparison, meetsBy, setOf } from './values.ts'

/** The initiator of the action, by user id. */
export const initiator = defineSelector(anySet, (userIds, { initiatorId }) => ({
  matched: userIds.includes(initiatorId),
  observed: initiatorId,
}))

/** Whether a person or a service asks. */
export const initiatorKind = defineSelector(setOf(initiatorKinds), (named, { initiatorKind }) =>
  initiatorKind === undefined ? unknownFinding : { matched: named.includes(initiatorKind), observed: initiatorKind },
)

/** A policy group that the initiator is in, by its id. */
export const initiatorGroup = defineSelector(anySet, (groupIds, { initiatorGroupIds }) => ({
  matched: groupIds.some((id) => initiatorGroupIds.includes(id)),
  observed: initiatorGroupIds,
}))

/** The counterparty that is paid or changed, by its id. A destination outside the address book certainly does not match. */
export const counterparty = defineSelector(anySet, (ids, { counterparty }) => {
  if (counterparty === null) return { matched: false, observed: null }
  const id = counterparty?.id
  return id === undefined ? unknownFinding : { matched: ids.includes(id), observed: id }
})

/**
 * A counterparty group by its id: the one that a counterparty_group_* action acts upon, else those that the counterparty
 * is in now.
 */
export const counterpartyGroup = defineSelector(anySet, (ids, { counterparty, counterpartyGroupIds }) => {
  if (counterpartyGroupIds === undefined && counterparty === null) return { matched: false, observed: null }
  const groupIds = counterpartyGroupIds ?? counterparty?.groupIds
  return groupIds === undefined
    ? unknownFinding
    : { matched: ids.some((id) => groupIds.includes(id)), observed: groupIds }
})

/** The kind of the counterparty. A destination outside the address book certainly does not match. */
export const counterpartyKind = defineSelector(setOf(counterpartyKinds), (named, { counterparty }) => {
  if (counterparty === null) return { matched: false, observed: null }
  const kind = counterparty?.kind
  return kind === undefined ? unknownFinding : { matched: named.includes(kind), observed: kind }
})

/**
 * Hours since the counterparty was created: `{op: "lt", value: "24"}` is a counterparty of less than a
 * day. A destination outside the address book has no age, so the result is unknown.
 */
export const counterpartyAgeHours = defineSelector(comparison, (bound, facts) => {
  const age = ageOfCounterparty(facts)
  if (age === null) return unknownFinding
  return { matched: meetsBy(bound, age.milliseconds, toMilliseconds), observed: age.hours }
})

const ageOfCounterparty = oncePerFacts(({ now, counterparty }) => ageSince(counterparty?.createdAt, now))
