import { isSameJson } from '../../../lib/canonical-json.ts'
import type { RulesDocument } from './document-schema.ts'

export const differenceKinds = [
  'governance',
  'group',
  'policy',
  'invitation',
  'category',
  'wallet',
  'token',
  'variant',
  'service_key',
  'category_rights',
  'folder',
] as const
type DifferenceKind = (typeof differenceKinds)[number]

/** A part of the rules that differs between two versions. `before` is null for a new part, `after` for a removed part. */
export type Difference = {
  kind: DifferenceKind
  /** null if the document has only one such part. */
  id: string | null
  name: string
  before: object | null
  after: object | null
}

/** Returns the parts that differ, in the order of the document. */
export function differencesOf(before: RulesDocument, after: RulesDocument): Difference[] {
  return [
    ...single('governance', before.governance, after.governance),
    ...compare('group', before.groups, after.groups, ({ name }) => name),
    ...compare('policy', before.policies, after.policies, ({ name }) => name),
    ...compare('invitation', withId(before), withId(after), ({ id }) => id),
    ...compare('category', before.categories, after.categories, ({ key }) => key),
    ...single('wallet', before.wallet, after.wallet),
    ...compare('token', before.tokens, after.tokens, ({ network, code }) => `${network} ${code}`),
    ...compare('variant', before.variants, after.variants, ({ route, code }) => `${route} ${code}`),
    ...compare('service_key', before.serviceKeys ?? [], after.serviceKeys ?? [], ({ name }) => name),
    ...compare('category_rights', before.categoryRights ?? [], after.categoryRights ?? [], ({ key }) => key),
    ...compare('folder', before.folders ?? [], after.folders ?? [], ({ name }) => name),
  ]
}

/** Names the first differences in a message, such as `policy "Large payments", group "Treasury"`. */
export function namesOf(differences: Difference[]): string {
  const shown = differences
    .slice(0, shownMax)
    .map(({ kind, id, name }) => (id === null ? kind : `${kind} ${JSON.stringify(name)}`))
  const more = differences.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

const shownMax = 5

/** An e-mail address has one pending invitation to a vault. */
const withId = ({ invitations }: RulesDocument) =>
  invitations.map((invitation) => ({ ...invitation, id: invitation.email }))

function single(kind: DifferenceKind, before: object, after: object): Difference[] {
  return isSameJson(before, after) ? [] : [{ kind, id: null, name: kind, before, after }]
}

function compare<Item extends { id: string }>(
  kind: DifferenceKind,
  before: Item[],
  after: Item[],
  nameOf: (item: Item) => string,
): Difference[] {
  return pairs(before, after).flatMap(({ before: was = null, after: is = null }): Difference[] => {
    const item = (is ?? was)!
    return isSameJson(was, is) ? [] : [{ kind, id: item.id, name: nameOf(item), before: was, after: is }]
  })
}

/** Pairs the items of two lists by id. `before` or `after` is undefined for an item that only the other list has. */
export function pairs<Item extends { id: string }>(before: Item[], after: Item[]): { before?: Item; after?: Item }[] {
  const earlier = new Map(before.map((item) => [item.id, item]))
  const later = new Map(after.map((item) => [item.id, item]))
  const ids = [...new Set([...earlier.keys(), ...later.keys()])]
  return ids.map((id) => ({ before: earlier.get(id), after: later.get(id) }))
}
