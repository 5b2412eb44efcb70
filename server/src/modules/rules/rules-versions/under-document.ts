import { everyoneCode } from '../../../access/memberships.ts'
import type { PolicySnapshot } from '../decisions/decision.ts'
import type { RulesDocument } from './document-schema.ts'

/** The policies and groups of a document of rules, in the form in which the evaluator takes them; pure. */

/** The groups that each user joins and leaves between two documents, by user. */
export type Moves = Readonly<Record<string, { joins: string[]; leaves: string[] }>>

/** The policies of a document, as the evaluator takes them. */
export function policiesOf({ policies }: RulesDocument): (PolicySnapshot & { enabled: boolean })[] {
  return policies.map(({ description: _, rules, approvers, ...policy }) => ({
    ...policy,
    rules: rules.map(({ conditionType, selectors }) => ({
      ...{ id: '', conditionType, createdAt: '' },
      selectors: selectors.map((selector) => ({ id: '', ...selector })),
    })),
    approvers: approvers.map(({ threshold, ...who }) => (threshold === null ? who : { ...who, threshold })),
  }))
}

/** Returns the moves of users. A user without a group is not a member, and therefore not in `everyone`, which stores no members. */
export function movesBetween(before: RulesDocument, after: RulesDocument): Moves {
  const [earlier, later] = [groupsByUser(before), groupsByUser(after)]
  const everyone = before.groups.filter(({ isSystem, code }) => isSystem && code === everyoneCode).map(({ id }) => id)
  const moves: Record<string, { joins: string[]; leaves: string[] }> = Object.create(null)
  for (const userId of new Set([...earlier.keys(), ...later.keys()])) {
    const [had, has] = [earlier.get(userId) ?? [], later.get(userId) ?? []]
    const joins = has.filter((id) => !had.includes(id))
    const leaves = had.filter((id) => !has.includes(id))
    if (had.length === 0) joins.push(...everyone)
    if (has.length === 0) leaves.push(...everyone)
    if (joins.length + leaves.length > 0) moves[userId] = { joins, leaves }
  }
  return moves
}

function groupsByUser({ groups }: RulesDocument): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { id, members } of groups) {
    for (const userId of members) found.set(userId, [...(found.get(userId) ?? []), id])
  }
  return found
}

/** Returns the recorded groups of a user, with the moves of that user applied. */
export function groupsAfter({ joins, leaves }: Moves[string], groupIds: readonly string[]): string[] {
  return [...new Set([...groupIds, ...joins])].filter((id) => !leaves.includes(id))
}
