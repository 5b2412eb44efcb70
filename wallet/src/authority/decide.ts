import { hashOf, NotCanonicalError } from './canonical.ts'
import type { AnyAuthority, AnySignedVote, Authorization, Decision, Order, SignedVote, Subject } from './documents.ts'
import { MalformedError, parseAuthority, parseAuthorization, parseKept, parseVotes } from './parse.ts'
import { refusalOfPlace, sumOf } from './payout.ts'
import { type Refusal, refusal } from './refusal.ts'
import { isSignedBy } from './verify-vote.ts'

/** An order as this service would carry it out, regardless of the signatures. */
export type Ordered = {
  id: string
  network: string
  coinType: number
  derivationPath: string
  fromAddress: string
  toAddress: string
  contractAddress: string | null
  amount: bigint
  feeLevel: string | null
  maxFee: bigint | null
}

type Situation = {
  ordered: Ordered
  /** The authorization as it was received or stored, without any check. */
  authorization: unknown
  authority: AnyAuthority
  /** The sum that was ordered of the token in the last 24 hours, without this order. */
  orderedLastDay: bigint
  now: Date
}

/** Refuses an order that too few people of the authority have signed in exactly this form. Returns null when enough signed. */
export function refusalOfOrder({ ordered, authorization, authority, orderedLastDay, now }: Situation): Refusal | null {
  if (authorization === undefined || authorization === null) {
    return refusal('AUTHORIZATION_MISSING', 'the vault is protected, and the order carries no authorization')
  }
  const read = readOr(() => parseAuthorization(authorization))
  if ('refused' in read) return read.refused
  const { order, votes, batch } = read.value
  return (
    refusalOfFields(ordered, order, authority) ??
    (batch === undefined ? null : refusalOfPlace(order, batch)) ??
    (now.getTime() > Date.parse(order.expiresAt)
      ? refusal('ORDER_EXPIRED', `the order expired at ${order.expiresAt}`)
      : null) ??
    refusalOfVersion(read.value, authority) ??
    refusalOfVotes(authority, votes, subjectOf(read.value)) ??
    refusalOfFuture(votes, now) ??
    refusalOfEnd(read.value) ??
    refusalByRule(read.value, authority, orderedLastDay)
  )
}

type Subjected = { subject: Subject; hash: string }

/** The document that people signed: the order, or the payout that it is a row of. */
function subjectOf({ order, batch }: Authorization): Subjected {
  return batch === undefined
    ? { subject: 'transfer', hash: hashOf(order) }
    : { subject: 'payout', hash: hashOf(batch.payout) }
}

/**
 * Refuses a version that may not follow the present authority. Its number and the hash that it names must be right, and enough
 * persons of the group that may change it must have signed its hash; the vote `initiate` of its proposer counts too. Returns null
 * when it may follow.
 */
export function refusalOfNext(authority: AnyAuthority, next: unknown, votes: unknown, now: Date): Refusal | null {
  const read = readOr(() => ({ next: parseAuthority(next), votes: parseVotes(votes) }))
  if ('refused' in read) return read.refused
  return refusalOfSuccession(authority, read.value.next, read.value.votes) ?? refusalOfFuture(read.value.votes, now)
}

/** As `refusalOfNext`, for an earlier version, which may be of format 1 if the present version is. */
export function refusalOfKept(authority: AnyAuthority, kept: { authority: unknown; votes: unknown }): Refusal | null {
  const read = readOr(() => parseKept(kept))
  if ('refused' in read) return read.refused
  const next = read.value.authority
  if (authority.format === 'strongroom-authority-2' && next.format !== authority.format) {
    return refusal('AUTHORIZATION_MALFORMED', 'a version of format 1 follows one of format 2')
  }
  return refusalOfSuccession(authority, next, read.value.votes)
}

/**
 * Refuses a cancellation that too few persons signed. It needs one signature fewer than the waiting version, by keys of the
 * version in force. Returns null when enough persons signed.
 */
export function refusalOfCancellation(
  authority: AnyAuthority,
  hash: string,
  votes: unknown,
  now: Date,
): Refusal | null {
  const read = readOr(() => parseVotes(votes))
  if ('refused' in read) return read.refused
  const refused =
    refusalOfVotes(authority, read.value, { subject: 'authority', hash }) ?? refusalOfFuture(read.value, now)
  if (refused !== null) return refused
  const { group } = authority.change
  const needed = cancellingVotes(authority)
  const rejecting = new Set(read.value.filter(({ vote }) => vote.decision === 'reject').map(({ vote }) => vote.person))
  const rejections = personsOf(authority, group).filter((person) => rejecting.has(person)).length
  return rejections >= needed
    ? null
    : refusal('VOTES_MISSING', `${group} rejected it with ${rejections} of ${needed} votes`)
}

/** The number of signatures that cancel a version: one fewer than sign it. */
export const cancellingVotes = ({ change }: AnyAuthority): number => Math.max(1, change.votes - 1)

/** Reads a single vote against a version. Votes are collected one by one until enough persons have voted. */
export function readRejection(authority: AnyAuthority, vote: unknown, now: Date): SignedVote | { refused: Refusal } {
  const read = readOr(() => parseVotes([vote]))
  if ('refused' in read) return read
  const [signed] = read.value as [SignedVote]
  const refused = refusalOfRejection(authority, signed) ?? refusalOfFuture([signed], now)
  return refused === null ? signed : { refused }
}

function refusalOfRejection(authority: AnyAuthority, signed: SignedVote): Refusal | null {
  const { hash, decision, person } = signed.vote
  const { group } = authority.change
  if (decision !== 'reject') return refusal('ORDER_DIFFERS', `${decision} cancels no version`)
  const refused = refusalOfVotes(authority, [signed], { subject: 'authority', hash })
  if (refused !== null || personsOf(authority, group).includes(person)) return refused
  return refusal('KEY_UNKNOWN', `${person} is not of ${group}, who cancel a version`)
}

function refusalOfSuccession(authority: AnyAuthority, next: AnyAuthority, votes: AnySignedVote[]): Refusal | null {
  if (next.vaultId !== authority.vaultId) return refusal('ORDER_DIFFERS', 'the version is of another vault')
  if (next.version !== authority.version + 1 || next.previous !== hashOfAuthority(authority)) {
    return refusal(
      'AUTHORITY_VERSION_DIFFERS',
      `only version ${authority.version + 1} may follow, and it must name the hash of version ${authority.version}`,
    )
  }
  const refused = refusalOfVotes(authority, votes, { subject: 'authority', hash: hashOf(next) })
  if (refused !== null) return refused
  const { group, votes: needed } = authority.change
  const voters = votersOf(votes, ['initiate', 'approve'])
  const signatures = personsOf(authority, group).filter((person) => voters.has(person)).length
  return signatures >= needed
    ? null
    : refusal('VOTES_MISSING', `${group} signed it with ${signatures} of ${needed} votes`)
}

function refusalOfFields(ordered: Ordered, order: Order, authority: AnyAuthority): Refusal | null {
  const same: [name: string, isSame: boolean][] = [
    ['vaultId', order.vaultId === authority.vaultId],
    ['transferId', order.transferId === ordered.id],
    ['network', order.network === ordered.network],
    ['coinType', order.coinType === ordered.coinType],
    ['derivationPath', order.derivationPath === ordered.derivationPath],
    ['fromAddress', order.fromAddress === ordered.fromAddress],
    ['toAddress', order.toAddress === ordered.toAddress],
    ['contractAddress', order.contractAddress === ordered.contractAddress],
    ['amount', BigInt(order.amount) === ordered.amount],
    ['feeLevel', (order.feeLevel ?? null) === ordered.feeLevel],
    ['maxFee', (order.maxFee === undefined ? null : BigInt(order.maxFee)) === ordered.maxFee],
  ]
  const other = same.find(([, isSame]) => !isSame)
  return other === undefined ? null : refusal('ORDER_DIFFERS', `another ${other[0]} was signed`)
}

export function refusalOfVersion({ authorityVersion }: Authorization, { version }: AnyAuthority): Refusal | null {
  if (authorityVersion === version) return null
  return refusal(
    'AUTHORITY_VERSION_DIFFERS',
    `the votes were collected for version ${authorityVersion}, the present one is ${version}`,
  )
}

/**
 * Every vote must be about this document, name the authority in force and be signed by its person's key. A single wrong vote
 * refuses the list. A person who was shown another authority may have read another amount.
 */
function refusalOfVotes(authority: AnyAuthority, votes: AnySignedVote[], { subject, hash }: Subjected): Refusal | null {
  for (const { vote } of votes) {
    if (vote.subject !== subject || vote.hash !== hash)
      return refusal('ORDER_DIFFERS', 'a vote is about something else')
  }
  for (const { vote } of votes) {
    if ('authority' in vote && vote.authority !== hashOfAuthority(authority))
      return refusal('AUTHORITY_VERSION_DIFFERS', `${vote.person} was shown another authority than that in force`)
  }
  for (const signed of votes) {
    const { person } = signed.vote
    const key = authority.keys.find(({ id }) => id === signed.keyId)
    if (key === undefined || key.person !== person) {
      return refusal('KEY_UNKNOWN', `the authority has no such key of ${person}`)
    }
    if (!isSignedBy(key, signed)) return refusal('SIGNATURE_INVALID', `the signature of ${person} does not verify`)
  }
  return null
}

/** The highest permitted lead of a signer's clock. */
const skewMilliseconds = 5 * 60_000
/** The longest time between the initiator's signature and the end of an order. */
const endMilliseconds = 30 * 86_400_000

function refusalOfFuture(votes: SignedVote[], now: Date): Refusal | null {
  const late = votes.find(({ vote }) => Date.parse(vote.signedAt) > now.getTime() + skewMilliseconds)
  if (late === undefined) return null
  return refusal('SIGNED_IN_FUTURE', `${late.vote.person} signed at ${late.vote.signedAt}, which has not come yet`)
}

/** Refuses an order that ends too long after its signature, because the signature could be used for all that time. */
function refusalOfEnd({ order, votes }: Authorization): Refusal | null {
  const initiated = votes.filter(({ vote }) => vote.decision === 'initiate' && vote.person === order.initiatorId)
  const isTooLate = initiated.some(
    ({ vote }) => Date.parse(order.expiresAt) > Date.parse(vote.signedAt) + endMilliseconds,
  )
  if (!isTooLate) return null
  return refusal('EXPIRES_TOO_LATE', `${order.expiresAt} is more than 30 days after it was signed`)
}

/** A row of a payout needs the votes of an order over the whole sum, so that a split payment cannot avoid a limit. */
function refusalByRule(
  { order, votes, batch }: Authorization,
  authority: AnyAuthority,
  orderedLastDay: bigint,
): Refusal | null {
  const { network, contractAddress, initiatorId } = order
  const rule = authority.rules.find(
    (candidate) => candidate.network === network && candidate.contractAddress === contractAddress,
  )
  if (rule === undefined) {
    return refusal('TOKEN_NOT_PERMITTED', `no rule names ${contractAddress ?? 'the coin'} on ${network}`)
  }
  if (!votersOf(votes, ['initiate']).has(initiatorId)) {
    return refusal('NOT_INITIATED', `${initiatorId} did not sign the order`)
  }
  if (!personsOf(authority, rule.initiators).includes(initiatorId)) {
    return refusal('NOT_INITIATED', `${initiatorId} is not of ${rule.initiators}, who may order`)
  }
  const amount = BigInt(order.amount)
  const total = totalOf({ order, batch })
  const approvers = votersOf(votes, ['approve'])
  approvers.delete(initiatorId)
  const missing = missingFloor(authority, rule, { order, total }, approvers)
  if (missing !== null) {
    const { group, votes: needed, given: approvals } = missing
    return refusal('VOTES_MISSING', `${group} approved with ${approvals} of ${needed} votes`)
  }
  if (rule.perDay === null) return null
  // A payout that alone exceeds the limit of a day is refused at its first row, so that no part of it is paid.
  if (total > BigInt(rule.perDay)) {
    return refusal('PER_DAY_EXCEEDED', `${total} are more than the ${rule.perDay} of 24 hours`)
  }
  if (orderedLastDay + amount > BigInt(rule.perDay)) {
    return refusal('PER_DAY_EXCEEDED', `${orderedLastDay} of ${rule.perDay} were ordered within 24 hours`)
  }
  return null
}

/** Returns the amount of an order, or the sum of the rows of its payout. */
function totalOf({ order, batch }: Pick<Authorization, 'order' | 'batch'>): bigint {
  const sum = batch === undefined ? undefined : sumOf(order, batch)
  return BigInt(sum?.amount ?? order.amount)
}

type Rule = AnyAuthority['rules'][number]

/** Finds the first floor that these persons do not reach, with their number in its group. Returns null when they reach all floors. */
function missingFloor(
  authority: AnyAuthority,
  rule: Rule,
  { order, total }: { order: Order; total: bigint },
  persons: ReadonlySet<string>,
) {
  const { network, toAddress } = order
  const isListed = authority.addresses.some((entry) => entry.network === network && entry.address === toAddress)
  for (const floor of floorsOf(rule, { amount: total, isListed })) {
    const approvals = personsOf(authority, floor.group).filter((person) => persons.has(person)).length
    if (approvals < floor.votes) return { ...floor, given: approvals }
  }
  return null
}

/** Returns true if these persons could have ordered it together: one of them may order, and the others reach every floor. */
export function isEnough(authority: AnyAuthority, authorization: Authorization, persons: ReadonlySet<string>): boolean {
  const { order } = authorization
  const { network, contractAddress } = order
  const rule = authority.rules.find(
    (candidate) => candidate.network === network && candidate.contractAddress === contractAddress,
  )
  if (rule === undefined) return false
  const total = totalOf(authorization)
  const isBegunBy = (initiator: string) => {
    const others = new Set([...persons].filter((person) => person !== initiator))
    return missingFloor(authority, rule, { order, total }, others) === null
  }
  return personsOf(authority, rule.initiators).some((person) => persons.has(person) && isBegunBy(person))
}

/** Returns the floors that require votes on such an order. */
const floorsOf = (
  { floors }: Pick<AnyAuthority['rules'][number], 'floors'>,
  { amount, isListed }: { amount: bigint; isListed: boolean },
) => floors.filter(({ above, to }) => amount > BigInt(above) && !(to === 'unlisted' && isListed))

/** Returns persons, not keys: two signatures of a person are one vote. The votes of a person who also signed a stop do not count. */
function votersOf(votes: AnySignedVote[], decisions: Decision[]): Set<string> {
  const persons = new Set(votes.filter(({ vote }) => decisions.includes(vote.decision)).map(({ vote }) => vote.person))
  for (const { vote } of votes)
    if (vote.decision === 'reject' || vote.decision === 'cancel') persons.delete(vote.person)
  return persons
}

/**
 * Reads votes that stop orders and payouts, or returns the refusal. A single person of any group can stop an order. The vote
 * may name any version of the authority, because a stop moves no funds.
 */
export function readStops(
  authority: AnyAuthority,
  votes: unknown,
  now: Date,
): { stops: Pick<SignedVote['vote'], 'hash' | 'person' | 'decision'>[] } | { refused: Refusal } {
  const read = readOr(() => parseVotes(votes))
  if ('refused' in read) return read
  if (read.value.length === 0) return { refused: refusal('AUTHORIZATION_MALFORMED', 'there is no vote') }
  for (const signed of read.value) {
    const refused = refusalOfStop(authority, signed) ?? refusalOfFuture([signed], now)
    if (refused !== null) return { refused }
  }
  return { stops: read.value.map(({ vote: { hash, person, decision } }) => ({ hash, person, decision })) }
}

function refusalOfStop(authority: AnyAuthority, signed: SignedVote): Refusal | null {
  const { subject, decision, person } = signed.vote
  const isOrder = subject === 'transfer' || subject === 'payout'
  if (!isOrder || (decision !== 'reject' && decision !== 'cancel'))
    return refusal('ORDER_DIFFERS', `${decision} of ${subject} stops no order`)
  const key = authority.keys.find(({ id }) => id === signed.keyId)
  if (key === undefined || key.person !== person || !authority.groups.some(({ persons }) => persons.includes(person)))
    return refusal('KEY_UNKNOWN', `the authority has no such key of ${person}, or no group has them`)
  return isSignedBy(key, signed) ? null : refusal('SIGNATURE_INVALID', `the signature of ${person} does not verify`)
}

/** Reads an authorization that was stored or received. */
export function readAuthorization(authorization: unknown): Authorization | { refused: Refusal } {
  const read = readOr(() => parseAuthorization(authorization))
  return 'refused' in read ? read : read.value
}

const personsOf = ({ groups }: AnyAuthority, group: string) => groups.find(({ id }) => id === group)?.persons ?? []

/** The hash of an authority in force, which every vote names. */
const hashes = new WeakMap<AnyAuthority, string>()
function hashOfAuthority(authority: AnyAuthority): string {
  const hash = hashes.get(authority) ?? hashOf(authority)
  hashes.set(authority, hash)
  return hash
}

function readOr<T>(read: () => T): { value: T } | { refused: Refusal } {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof MalformedError || error instanceof NotCanonicalError)) throw error
    return { refused: refusal('AUTHORIZATION_MALFORMED', error.message) }
  }
}
