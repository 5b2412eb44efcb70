import { canonicalJson, hashOf } from './canonical.ts'
import { describePayout } from './describe.ts'
import type { Authority, AuthorityDocument, Decision, Order, SignedVote, Subject, Vote } from './documents.ts'
import { checkOrder, type ExpectedOrder } from './expected.ts'
import { payoutOf } from './payout.ts'
import { type ServiceSigningKey, type Signer, serviceSigner } from './signers.ts'
import { SigningError } from './signing-error.ts'
import { isUnbound } from './unbound.ts'

/**
 * The only ways to a signed vote. Each compares the document with the expected document, computes its hash, and builds
 * the vote. The hash, subject, decision and person never come from an answer of the service.
 */

/** The authority by which the person was shown symbols and decimals; null if the wallet service has no authority. */
interface Shown {
  authority: Authority | null
}
export type Expected = ExpectedOrder & Shown
export type ExpectedPayout = Shown & { rows: readonly ExpectedOrder[] }
/** `document` is the canonical form of the request as the person was shown it. */
export type ExpectedRequest = Shown & { document: string }
/**
 * `authority` is the version in force; `document` is the canonical form of the next version as the person was shown it.
 */
export type ExpectedAuthority = { authority: Authority; document: string }

/** A document that waits for votes: a transfer, a payout with the orders of all its rows, or an approval request. */
export type Waiting =
  | { kind: 'transfer'; order: unknown; expected: Expected }
  | { kind: 'payout'; payoutId: string; orders: readonly unknown[]; expected: ExpectedPayout }
  | { kind: 'approval_request'; boundPayload: object; expected: ExpectedRequest }

type Key = Signer | ServiceSigningKey

/**
 * Signs a new order, which a preview of the service resolved, for its initiator.
 * @throws SigningError unless it is the expected order byte for byte
 */
export async function signOrder(order: unknown, { authority, ...expected }: Expected, key: Key): Promise<SignedVote> {
  const checked = checkOrder(order, expected, authority)
  assertInitiator(checked, key)
  return signVote({ subject: 'transfer', document: checked, decision: 'initiate', authority }, key)
}

/**
 * Signs a new payout, whose rows a preview of the service resolved, for its initiator.
 * @throws SigningError unless every row is the expected row byte for byte
 */
export async function signPayout(
  { payoutId, orders }: { payoutId: string; orders: readonly unknown[] },
  expected: ExpectedPayout,
  key: Key,
): Promise<SignedVote> {
  const rows = checkRows(payoutId, orders, expected)
  assertInitiator(rows[0]!, key)
  const document = await payoutOf(payoutId, rows)
  return signVote({ subject: 'payout', document, decision: 'initiate', authority: expected.authority }, key)
}

/**
 * Signs a vote on a waiting document.
 * @throws SigningError unless it is the expected document byte for byte, and for an approval of changes of the rules
 * that bind no differences
 */
export async function signApproval(
  waiting: Waiting,
  key: Key,
  decision: Exclude<Decision, 'initiate'> = 'approve',
): Promise<SignedVote> {
  const document = await checkWaiting(waiting)
  if (decision === 'approve' && waiting.kind === 'approval_request' && isUnbound(document))
    throw new SigningError('differencesHash', 'is missing: the request can only be rejected')
  return signVote({ subject: waiting.kind, document, decision, authority: waiting.expected.authority }, key)
}

/**
 * Signs the next version of an authority, or rejects a version that is not in force yet.
 * @throws SigningError unless it is the shown document and follows the version in force
 */
export async function signAuthority(
  next: AuthorityDocument,
  { authority, document }: ExpectedAuthority,
  key: Key,
  decision: Exclude<Decision, 'cancel'> = 'approve',
): Promise<SignedVote> {
  if (canonicalJson(next) !== document) throw new SigningError('authority', 'is not the document that was shown')
  const { vaultId, version } = authority.document
  if (next.vaultId !== vaultId) throw new SigningError('vaultId', 'is another vault')
  if (next.version !== version + 1 || next.previous !== authority.hash)
    throw new SigningError('previous', 'is not the version in force')
  return signVote({ subject: 'authority', document: next, decision, authority }, key)
}

async function checkWaiting(waiting: Waiting): Promise<object> {
  if (waiting.kind === 'transfer') {
    const { authority, ...expected } = waiting.expected
    return checkOrder(waiting.order, expected, authority)
  }
  if (waiting.kind === 'payout')
    return payoutOf(waiting.payoutId, checkRows(waiting.payoutId, waiting.orders, waiting.expected))
  return checkRequest(waiting)
}

function checkRows(
  payoutId: string,
  orders: readonly unknown[],
  { rows, authority }: ExpectedPayout,
): [Order, ...Order[]] {
  if (orders.length !== rows.length) throw new SigningError('rows', `are ${orders.length} and not ${rows.length}`)
  describePayout(payoutId, orders, authority)
  return orders.map((order, i) => checkOrder(order, rows[i]!, authority)) as [Order, ...Order[]]
}

function checkRequest({ boundPayload, expected }: Extract<Waiting, { kind: 'approval_request' }>): object {
  if (canonicalJson(boundPayload) !== expected.document)
    throw new SigningError('boundPayload', 'is not the document that was shown')
  const [{ authority }, { vaultId }] = [expected, boundPayload as { vaultId?: unknown }]
  if (authority !== null && authority.document.vaultId !== vaultId)
    throw new SigningError('vaultId', 'is another vault')
  return boundPayload
}

function assertInitiator({ initiatorId }: Order, { person }: Key): void {
  if (initiatorId !== person) throw new SigningError('initiatorId', 'is another person')
}

type Voted = { subject: Subject; document: object; decision: Decision; authority: Authority | null }

async function signVote({ subject, document, decision, authority }: Voted, key: Key): Promise<SignedVote> {
  const now = Date.now()
  if (decision === 'initiate' || decision === 'approve') assertEnd(document as { expiresAt?: string }, now)
  const vote: Vote = {
    format: 'strongroom-vote-2',
    subject,
    hash: await hashOf(document),
    decision,
    person: key.person,
    authority: authority?.hash ?? null,
    signedAt: new Date(now).toISOString(),
  }
  const signer = 'sign' in key ? key : serviceSigner(key)
  const signed = await signer.sign(vote, document)
  assertSameVote(signed.vote, vote)
  return signed
}

const day = 86_400_000
/** The latest end of an order, counted from its signature. */
const daysMax = 30

/** @throws SigningError for an order that has ended, or that the wallet service refuses because it ends too late */
function assertEnd({ expiresAt }: { expiresAt?: string }, now: number): void {
  if (expiresAt === undefined) return
  const end = Date.parse(expiresAt)
  if (end <= now) throw new SigningError('expiresAt', 'has passed')
  if (end > now + daysMax * day) throw new SigningError('expiresAt', `is more than ${daysMax} days from now`)
}

/** The largest difference of the clocks: a page of the wallet service sets the time of the signature by its own clock. */
const skewMax = 300_000

function assertSameVote(signed: Vote, { signedAt, ...expectedVote }: Vote): void {
  const isSame = canonicalJson({ ...signed, ...expectedVote }) === canonicalJson(signed)
  const names = Object.keys(signed).length
  const isNow = Math.abs(Date.parse(signed.signedAt) - Date.parse(signedAt)) <= skewMax + timeToSign
  if (!isSame || names !== Object.keys(expectedVote).length + 1 || !isNow)
    throw new SigningError('vote', 'is not the requested vote')
}

/** The longest time that a person may take. */
const timeToSign = 600_000
