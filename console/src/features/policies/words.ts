import { formatAmount } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import type { Named } from './selectors.ts'
import { listOf } from './selectors.ts'
import type { ActionType, Clause, Draft, Effect, Term } from './terms.ts'

/** Returns the name of an object that a value refers to. */
export type Names = (kind: Named, id: string) => string

export function actionWords(): Record<ActionType, string> {
  return {
    transfer: t('a transfer'),
    create_address: t('a new address'),
    counterparty_create: t('a new entry of the address book'),
    counterparty_update: t('a change of an entry of the address book'),
    counterparty_archive: t('the archiving of an entry of the address book'),
    counterparty_group_create: t('a new group of the address book'),
    counterparty_group_update: t('a change of a group of the address book'),
    counterparty_group_archive: t('the archiving of a group of the address book'),
    counterparty_group_add: t('an addition to a group of the address book'),
    counterparty_group_remove: t('a removal from a group of the address book'),
    hold_place: t('a hold'),
    hold_release: t('the release of a hold'),
    transfer_resolve: t('the resolution of a halted transfer'),
    event_resolve: t('the decision on a held deposit'),
  }
}

export function effectWords(): Record<Effect, string> {
  return { allow: t('it is allowed'), requireApproval: t('people must agree'), block: t('it is refused') }
}

export function subjectWord(selectorType: string, label?: string): string {
  const words: Record<string, string> = {
    amount: t('the amount'),
    amountUsd: t('the amount in USD'),
    percentOfBalance: t('the share of the balance'),
    maxFee: t('the highest network fee'),
    riskScore: t('the risk score of the screening'),
    velocityAmount: t('the sum of the token'),
    velocityUsd: t('the sum in USD'),
    velocityCount: t('the number of transfers'),
    token: t('the token'),
    network: t('the network'),
    sourceAddress: t('the paying address'),
    addressGroup: t('the folder of the paying address'),
    routeVariant: t('the segment of the address'),
    destination: t('the address of the recipient'),
    destinationType: t('the recipient'),
    destinationAgeHours: t('the age of the recipient’s address in hours'),
    firstPaymentToDestination: t('this payment'),
    addressLookAlike: t('the look of the recipient’s address'),
    counterparty: t('the counterparty'),
    counterpartyGroup: t('the group of the counterparty'),
    counterpartyKind: t('the kind of the counterparty'),
    counterpartyAgeHours: t('the age of the counterparty in hours'),
    initiator: t('the initiator'),
    initiatorGroup: t('a group of the initiator'),
    initiatorKind: t('the kind of the initiator'),
    category: t('the declared category'),
    time: t('the time'),
  }
  return words[selectorType] ?? label ?? selectorType
}

export function operatorWords(): Record<string, string> {
  return {
    gt: t('is more than'),
    gte: t('is at least'),
    lt: t('is less than'),
    lte: t('is at most'),
    between: t('is between'),
  }
}

export function perWords(): Record<string, string> {
  return {
    initiator: t('by the same person'),
    sourceAddress: t('from the same address'),
    destination: t('to the same recipient'),
    vault: t('by the whole vault'),
  }
}

export function dayWords(): Record<string, string> {
  return {
    ...{ mon: t('Mon'), tue: t('Tue'), wed: t('Wed'), thu: t('Thu') },
    ...{ fri: t('Fri'), sat: t('Sat'), sun: t('Sun') },
  }
}

/** Returns the word for a member of a closed set. */
export function optionWord(option: string): string {
  const words: Record<string, string> = {
    internal: t('an address of this vault'),
    unknown: t('unknown'),
    individual: t('individual'),
    company: t('company'),
    exchange: t('exchange'),
    service: t('service'),
    other: t('other'),
    counterparty: t('in the address book'),
    person: t('person'),
  }
  return words[option] ?? option
}

/** Returns the words for a true and for a false flag. */
export function flagWords(selectorType: string): { yes: string; no: string } {
  const words: Record<string, { yes: string; no: string }> = {
    firstPaymentToDestination: { yes: t('the first to this address'), no: t('not the first to this address') },
    addressLookAlike: { yes: t('like another known address'), no: t('like no other known address') },
  }
  return words[selectorType] ?? { yes: t('true'), no: t('false') }
}

/** Formats seconds in the largest unit without a remainder: "24 hours", "7 days". */
export function periodWord(seconds: number): string {
  const [unit, size] =
    seconds % 86_400 === 0 && seconds > 86_400
      ? (['day', 86_400] as const)
      : seconds % 3_600 === 0
        ? (['hour', 3_600] as const)
        : (['minute', 60] as const)
  const format = formatter(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(seconds / size)
}

/** Returns the unit of a selector's figures. Amounts have the unit of the only token that the policy names. */
export function unitOf(selectorType: string, terms: readonly Term[], names: Names): string {
  if (selectorType === 'percentOfBalance') return '%'
  if (selectorType === 'amountUsd' || selectorType === 'velocityUsd') return 'USD'
  if (selectorType !== 'amount' && selectorType !== 'velocityAmount') return ''
  const tokens = terms
    .filter(({ negated, clauses }) => !negated && clauses.length === 1 && clauses[0]!.selectorType === 'token')
    .flatMap(({ clauses }) => listOf<string>(clauses[0]!.value))
  return tokens.length === 1 ? names('token', tokens[0]!) : ''
}

const namedBy: Record<string, Named> = {
  token: 'token',
  network: 'network',
  sourceAddress: 'address',
  addressGroup: 'address_group',
  counterparty: 'counterparty',
  counterpartyGroup: 'counterparty_group',
  initiator: 'member',
  initiatorGroup: 'policy_group',
  category: 'category',
}

const figure = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? formatAmount(text) : (text ?? '…')

type Value = Record<string, string | undefined> & { windowSeconds?: never; days?: never }

/** Describes the value of a clause, such as "more than 1,000 TUSD". */
export function valueWords({ selectorType, value }: Clause, unit: string, names: Names): string {
  if (selectorType === 'time')
    return windowWords(value as { days: string[]; from: string; to: string; timezone: string })
  if (selectorType === 'routeVariant') {
    return either(
      listOf<{ route: string; variant: string }>(value).map(({ route, variant }) =>
        names('route_variant', `${route}/${variant}`),
      ),
    )
  }
  if (typeof value === 'boolean') return flagWords(selectorType)[value ? 'yes' : 'no']
  const { op, value: bound, min, max } = (value ?? {}) as Value
  if (op === undefined) {
    const kind = namedBy[selectorType]
    return either(
      listOf<string>(value).map((option) => (kind === undefined ? optionWord(option) : names(kind, option))),
    )
  }
  const suffix = unit === '' ? '' : ` ${unit}`
  if (op === 'between') return t('{min} and {max}', { min: `${figure(min)}${suffix}`, max: `${figure(max)}${suffix}` })
  return `${figure(bound)}${suffix}`
}

function either(words: readonly string[]): string {
  if (words.length === 0) return '…'
  return formatter(Intl.ListFormat, { type: 'disjunction' }).format(words)
}

function windowWords({
  days,
  from,
  to,
  timezone,
}: {
  days: string[]
  from: string
  to: string
  timezone: string
}): string {
  const names = dayWords()
  return t('{days} from {from} to {to} ({zone})', {
    days: days.map((day) => names[day] ?? day).join(', '),
    ...{ from, to, zone: timezone },
  })
}

/** Describes a clause: "the amount is more than 1,000 TUSD". */
export function clauseWords(clause: Clause, negated: boolean, terms: readonly Term[], names: Names): string {
  const subject = subjectWord(clause.selectorType)
  const { op, windowSeconds, per } = (clause.value ?? {}) as { op?: string; windowSeconds?: number; per?: string }
  const words = { subject, value: valueWords(clause, unitOf(clause.selectorType, terms, names), names) }
  if (op === undefined) return negated ? t('{subject} is not {value}', words) : t('{subject} is {value}', words)
  const relation = operatorWords()[op] ?? op
  const within =
    windowSeconds === undefined
      ? ''
      : ` ${t('within {period} {per}', { period: periodWord(windowSeconds), per: perWords()[per ?? ''] ?? '' })}`
  const plain = t('{subject} {relation} {value}', { ...words, subject: `${subject}${within}`, relation })
  return negated ? t('it is not so that {condition}', { condition: plain }) : plain
}

/** Describes the conditions of a policy. Returns an empty list for a policy that always matches. */
function termWords(terms: readonly Term[], names: Names): string[] {
  return terms.map(({ negated, clauses }) =>
    either(clauses.map((clause) => clauseWords(clause, negated, terms, names))),
  )
}

/** Describes the effect: "2 of Board must agree". */
function thenWords(draft: Pick<Draft, 'effect' | 'approvalThreshold' | 'approvers' | 'groupId'>, names: Names): string {
  const { effect, approvalThreshold: count, approvers, groupId } = draft
  if (effect === 'block') return t('it is refused')
  if (effect === 'allow' && count === 0) return t('it is allowed')
  const who = votersWords(approvers, groupId, names)
  return t('{count} of {who} must agree', { count: Math.max(1, count), who })
}

export function votersWords(approvers: Draft['approvers'], groupId: string, names: Names): string {
  if (approvers.length === 0) return names('policy_group', groupId)
  const words = approvers.map(({ kind, id }) => names(kind === 'user' ? 'member' : 'policy_group', id))
  const anybody = formatter(Intl.ListFormat, { type: 'disjunction' }).format(words)
  const ofGroups = approvers.flatMap(({ id, threshold }) =>
    threshold === undefined ? [] : [t('{count} of {who}', { count: threshold, who: names('policy_group', id) })],
  )
  if (ofGroups.length === 0) return anybody
  const parts = formatter(Intl.ListFormat, { type: 'conjunction' }).format(ofGroups)
  return t('{anybody} (at least {parts})', { anybody, parts })
}

/** Returns a policy as a sentence. */
export function sentenceOf(draft: Draft, names: Names): string {
  const conditions = termWords(draft.terms, names)
  const words = {
    who: names('policy_group', draft.groupId),
    what: actionWords()[draft.actionType],
    conditions: formatter(Intl.ListFormat, { type: 'conjunction' }).format(conditions),
    outcome: thenWords(draft, names),
  }
  if (conditions.length === 0) return t('When anyone in {who} orders {what}, then {outcome}.', words)
  return t('When anyone in {who} orders {what} and {conditions}, then {outcome}.', words)
}
