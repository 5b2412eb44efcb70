import { canonicalJson } from '../../sdk/src/signing/canonical.ts'
import type { FullAuthority, Key, Rule } from './authority.ts'
import { fromBase64url, sha256Hex } from './bytes.ts'
import { amountOf } from './rule-sentence.ts'

/**
 * The whole difference between an authority and the next one, in sentences. A part that is in no sentence is the same in both: only
 * the order of a list may differ, which then is a sentence, too.
 */
export async function differenceOf(present: FullAuthority, next: FullAuthority): Promise<string[]> {
  const named = namesOf(present)
  const parts = [
    ...settings(present, next),
    ...(await keys(present, next, named)),
    ...groups(present, next, named),
    ...lists(present, next, named),
    ...rules(present, next),
  ]
  return parts.length > 0 || isSame(bodyOf(present), bodyOf(next)) ? parts : ['Lists have another order.']
}

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)

/** The document without the two fields that every version has of its own. */
const bodyOf = ({ version, previous, ...body }: FullAuthority): object => body

type Named = (person: string) => string

/** Contacts of the version in force: those of the next one are what somebody proposes. */
function namesOf({ contacts = [] }: FullAuthority): Named {
  return (person) => {
    const contact = contacts.find((entry) => entry.person === person)
    return contact === undefined ? person : `${contact.email} (${person})`
  }
}

const pageSentences = {
  true: 'Keys of the pages of the service may sign: whoever takes the service over shows what they like to who signs.',
  false: 'Only keys of this page and of services may sign.',
}
/** Of format 1, which says neither. */
const before = { trustsServicePage: true, delayHours: 24 }

function settings(present: FullAuthority, next: FullAuthority): string[] {
  const [a, b] = [
    { ...before, ...present },
    { ...before, ...next },
  ]
  const sentences: string[] = []
  if (a.format !== b.format) sentences.push(`The format becomes ${b.format}.`)
  if (a.vaultId !== b.vaultId) sentences.push(`It is of another vault: ${b.vaultId}.`)
  if (a.trustsServicePage !== b.trustsServicePage) sentences.push(pageSentences[`${b.trustsServicePage}`])
  if (a.delayHours !== b.delayHours)
    sentences.push(`A later version waits ${b.delayHours} hours after it was signed, and not ${a.delayHours}.`)
  if (!isSame(a.change, b.change))
    sentences.push(
      `A later version needs ${b.change.votes} votes of ${b.change.group}, and not ${a.change.votes} of ${a.change.group}.`,
    )
  return sentences
}

type Changes<Item> = { added: Item[]; removed: Item[]; changed: [before: Item, after: Item][] }

function compare<Item>(present: Item[], next: Item[], idOf: (item: Item) => string): Changes<Item> {
  const [old, later] = [present, next].map((items) => new Map(items.map((item) => [idOf(item), item])))
  return {
    added: next.filter((item) => !old!.has(idOf(item))),
    removed: present.filter((item) => !later!.has(idOf(item))),
    changed: next.flatMap((item) => {
      const earlier = old!.get(idOf(item))
      return earlier === undefined || isSame(earlier, item) ? [] : [[earlier, item] as [Item, Item]]
    }),
  }
}

async function keys(present: FullAuthority, next: FullAuthority, named: Named): Promise<string[]> {
  const { added, removed, changed } = compare(present.keys, next.keys, ({ id }) => id)
  const textOf = (key: Key) => keyText(key, named)
  return Promise.all([
    ...removed.map(async (key) => `Takes away the key ${await textOf(key)}.`),
    ...added.map(async (key) => `Adds the key ${await textOf(key)}.`),
    ...changed.map(async ([a, b]) => `The key ${await textOf(a)} becomes ${await textOf(b)}.`),
  ])
}

async function keyText({ id, person, name, kind, publicKey, rpId, origins = [] }: Key, named: Named): Promise<string> {
  const fingerprint = await sha256Hex(fromBase64url(publicKey))
  const place = kind === 'passkey' ? `, a passkey of ${rpId} that signs at ${origins.join(', ')}` : ' of a service'
  return `“${name}” of ${named(person)}${place}, id ${id}, fingerprint ${fingerprint}`
}

function groups(present: FullAuthority, next: FullAuthority, named: Named): string[] {
  const { added, removed, changed } = compare(present.groups, next.groups, ({ id }) => id)
  const textOf = (persons: string[]) => persons.map(named).join(', ') || 'nobody'
  return [
    ...removed.map(({ id, persons }) => `Takes away the group ${id} of ${textOf(persons)}.`),
    ...added.map(({ id, persons }) => `Adds the group ${id} of ${textOf(persons)}.`),
    ...changed.map(([a, b]) => `The group ${a.id} of ${textOf(a.persons)} becomes that of ${textOf(b.persons)}.`),
  ]
}

function lists(present: FullAuthority, next: FullAuthority, named: Named): string[] {
  const places = compare(present.addresses, next.addresses, ({ network, address }) => `${address} on ${network}`)
  const contacts = compare(present.contacts ?? [], next.contacts ?? [], ({ person, email }) => `${email} ${person}`)
  return [
    ...places.removed.map(({ network, address }) => `Takes ${address} on ${network} off the address list.`),
    ...places.added.map(({ network, address }) => `Puts ${address} on ${network} on the address list.`),
    ...contacts.removed.map(({ person, email }) => `No longer mails ${email}, for ${named(person)}.`),
    ...contacts.added.map(({ person, email }) => `Mails ${email}, for ${named(person)}.`),
  ]
}

function rules(present: FullAuthority, next: FullAuthority): string[] {
  const tokenOf = ({ network, contractAddress }: Rule) =>
    contractAddress === null ? `the coin of ${network}` : `${contractAddress} on ${network}`
  const { added, removed, changed } = compare(present.rules, next.rules, tokenOf)
  return [
    ...removed.map((rule) => `Nothing more leaves of ${tokenOf(rule)} (before: ${ruleText(rule)}).`),
    ...added.map((rule) => `Lets ${tokenOf(rule)} leave: ${ruleText(rule)}.`),
    ...changed.map(([a, b]) => `The rule for ${tokenOf(a)} becomes: ${ruleText(b)} (before: ${ruleText(a)}).`),
  ]
}

function ruleText(rule: Rule): string {
  const { symbol, decimals, initiators, perDay, floors } = rule
  const unit = symbol === undefined ? 'it has no name' : `it is called ${symbol} and has ${decimals} decimals`
  const limit = perDay === null ? 'no limit a day' : `at most ${amountOf(perDay, rule)} within 24 hours`
  const requirements = floors.map(
    ({ above, to, group, votes }) =>
      `above ${amountOf(above, rule)} to ${to === 'any' ? 'anybody' : 'unlisted recipients'} ${votes} of ${group}`,
  )
  return `${unit}; ${initiators} order; ${limit}; ${requirements.join(', ') || 'no approvals'}`
}
