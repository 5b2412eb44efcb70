import { ageInHours } from './age.ts'
import { type CounterpartyFacts, counterpartyKinds, type Facts, initiatorKinds } from './facts.ts'
import { anySet, areAnyAmong, isAmong, selectorOf, setOf } from './selector.ts'

/** The initiator of the action, by user id. */
export const initiator = selectorOf(anySet, ({ initiatorId }) => initiatorId, isAmong)

/** The kind of the initiator: a person or a service. */
export const initiatorKind = selectorOf(setOf(initiatorKinds), ({ initiatorKind }) => initiatorKind, isAmong)

/** A policy group that the initiator is in, by its id. */
export const initiatorGroup = selectorOf(anySet, ({ initiatorGroupIds }) => initiatorGroupIds, areAnyAmong)

/** Returns a fact of the counterparty; null for a destination outside the address book, which certainly has no counterparty. */
const ofCounterparty =
  <Name extends keyof CounterpartyFacts>(name: Name) =>
  ({ counterparty }: Facts) =>
    counterparty === null ? null : counterparty?.[name]

/** The counterparty that is paid or changed, by its id. A destination outside the address book certainly does not match. */
export const counterparty = selectorOf(anySet, ofCounterparty('id'), isAmong)

/**
 * A counterparty group by its id: the group that a counterparty_group_* action changes; for other actions, the groups that the
 * counterparty is in now.
 */
export const counterpartyGroup = selectorOf(
  anySet,
  (facts) => facts.counterpartyGroupIds ?? ofCounterparty('groupIds')(facts),
  areAnyAmong,
)

/** The kind of the counterparty. A destination outside the address book certainly does not match. */
export const counterpartyKind = selectorOf(setOf(counterpartyKinds), ofCounterparty('kind'), isAmong)

/**
 * Hours since the counterparty was created: `{op: "lt", value: "24"}` is a counterparty of less than a
 * day. A destination outside the address book has no age, so the result is unknown.
 */
export const counterpartyAgeHours = ageInHours(({ counterparty }) => counterparty?.createdAt)
