import { hashOf } from '../authority/canonical.ts'
import type { Authority, Order, SignedVote } from '../authority/documents.ts'
import type { RefusalCode } from '../authority/refusal.ts'
import { payoutVectors, type Vector } from './payout-vectors.ts'
import {
  authority,
  follow,
  listed,
  order,
  origin,
  passkey,
  rpId,
  signing,
  signVote,
  type TestKey,
  team,
  token,
  unlisted,
} from './signing.ts'

const { anna, annaToo, ben, benAtWallet, carla, dora, emil, payroll } = team
const officers = [dora, emil]
const versions: Authority[] = [authority, follow(authority, { addresses: [] }, officers).authority]
const stranger = passkey('ben', 'a key that nobody registered')
const now = '2026-01-31T09:00:00.000Z'

/** Returns a generator of the same numbers for every run (mulberry32). */
function numbersFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

type Base = Omit<Vector, 'authorization' | 'verdict'> & {
  authorization: { order: Order; authorityVersion: number; votes: SignedVote[] }
}

/** `vote`: fields that all votes share. */
type Signing = { by: TestKey; approvers: TestKey[]; version: number; vote?: Partial<SignedVote['vote']> }

function build(name: string, changes: Partial<Order>, { by, approvers, version, vote = {} }: Signing): Base {
  const signed: Order = { ...order, transferId: name, initiatorId: by.entry.person, ...changes }
  const { transferId, vaultId, initiatorId, fromAddressId, tokenId, rulesVersion, expiresAt, ...request } = signed
  const about = { hash: hashOf(signed), authority: hashOf(versions[version]), ...vote }
  const votes = [
    signVote(by, { ...about, decision: 'initiate' }),
    ...approvers.map((key) => signVote(key, { ...about, decision: 'approve' })),
  ]
  return {
    name,
    authority: version,
    now,
    orderedLastDay: '0',
    request: { id: transferId, ...request },
    authorization: { order: signed, authorityVersion: version + 1, votes },
  }
}

/** Makes a valid order. */
function right(index: number, next: (below: number) => number): Vector {
  const version = next(3) === 0 ? 1 : 0
  const isListed = version === 0 && next(2) === 0
  const isToken = next(4) === 0
  const by = [anna, annaToo, ben, payroll][next(4)]!
  const amount = [1, 1000, 1001, 4999, 5000, 5001, 10_000][next(7)]!
  const treasurers = [anna, [ben, benAtWallet][next(2)]!, carla].filter(({ entry }) => entry.person !== by.entry.person)
  const approvers: TestKey[] = []
  if (!isToken && amount > 1000) approvers.push(...treasurers.slice(0, 2))
  else if (!isToken && !isListed) approvers.push(treasurers[next(treasurers.length)]!)
  if (!isToken && !isListed && amount > 5000) approvers.push(officers[next(2)]!)
  const changes: Partial<Order> = {
    amount: String(isToken ? BigInt(amount) * 10n ** 60n : amount),
    toAddress: isListed ? listed : unlisted,
    contractAddress: isToken ? token : null,
    rulesVersion: next(100),
    ...(next(2) === 0 ? { feeLevel: (['low', 'medium', 'high'] as const)[next(3)]! } : {}),
    ...(next(2) === 0 ? { maxFee: String(1 + next(1_000_000)) } : {}),
  }
  const vector = build(`right-${index}`, changes, { by, approvers, version })
  return { ...vector, orderedLastDay: String(isToken ? 10n ** 70n : 10_000 - amount), verdict: 'ok' }
}

type Fault = [what: string, verdict: RefusalCode, spoil: (base: Base, next: (below: number) => number) => object]

/** Authorizes the same order with other votes. */
const votesOf = ({ authorization }: Base, ...votes: [TestKey, SignedVote['vote']['decision']][]) => ({
  ...authorization,
  votes: votes.map(([key, decision]) => signVote(key, { hash: hashOf(authorization.order), decision })),
})
const inOrder = (base: Base, changes: object) => ({
  ...base.authorization,
  order: { ...base.authorization.order, ...changes },
})
const inRequest = (base: Base, changes: object) => ({ request: { ...base.request, ...changes } })
const inVote = ({ authorization }: Base, change: (vote: SignedVote) => object) => ({
  authorization: {
    ...authorization,
    votes: authorization.votes.map((vote, index) => (index === 1 ? { ...vote, ...change(vote) } : vote)),
  },
})
const asserted = (base: Base, assertion: Parameters<typeof signVote>[2]) =>
  inVote(base, ({ vote }) => signVote(ben, { hash: vote.hash, decision: 'approve' }, assertion))
const atWallet = (base: Base, assertion: Parameters<typeof signVote>[2]) =>
  inVote(base, ({ vote }) => signVote(benAtWallet, { hash: vote.hash, decision: 'approve' }, assertion))
const resigned = (base: Base, changes: Partial<Order>, { by = anna, vote = {} }: Partial<Signing> = {}) => {
  const {
    authority: _version,
    name: _name,
    ...others
  } = build(base.name, changes, {
    by,
    approvers: [ben, carla, dora],
    version: 0,
    vote,
  })
  return others
}

const formerly = ({ authority: _authority, signedAt: _signedAt, ...vote }: SignedVote['vote']) => ({
  ...vote,
  format: 'strongroom-vote-1',
})

const flipped = (text: string, position: number) => {
  const bytes = Buffer.from(text, 'base64url')
  bytes[bytes.length - 1 - position]! ^= 1
  return bytes.toString('base64url')
}

const ofRequest: Fault[] = [
  ['no authorization', 'AUTHORIZATION_MISSING', () => ({ authorization: null })],
  ['another id', 'ORDER_DIFFERS', (base) => inRequest(base, { id: 'replayed' })],
  ['another recipient', 'ORDER_DIFFERS', (base) => inRequest(base, { toAddress: listed })],
  ['another amount', 'ORDER_DIFFERS', (base) => inRequest(base, { amount: '5999' })],
  ['another network', 'ORDER_DIFFERS', (base) => inRequest(base, { network: 'polygon' })],
  ['a fee limit that nobody signed', 'ORDER_DIFFERS', (base) => inRequest(base, { maxFee: '77' })],
  ['after its expiry', 'ORDER_EXPIRED', () => ({ now: '2026-01-31T09:30:00.001Z' })],
  ['too much for one day', 'PER_DAY_EXCEEDED', () => ({ orderedLastDay: '9999' })],
]

const ofOrder: Fault[] = [
  ['a field too many', 'AUTHORIZATION_MALFORMED', (base) => ({ authorization: inOrder(base, { note: 'x' }) })],
  [
    'an amount that is a number',
    'AUTHORIZATION_MALFORMED',
    (base) => ({ authorization: inOrder(base, { amount: 6000 }) }),
  ],
  [
    'a day that does not exist',
    'AUTHORIZATION_MALFORMED',
    (base) => ({ authorization: inOrder(base, { expiresAt: '2026-02-30T09:30:00.000Z' }) }),
  ],
  ['another vault', 'ORDER_DIFFERS', (base) => resigned(base, { vaultId: 'vault-2' })],
  [
    'changed after it was signed',
    'ORDER_DIFFERS',
    (base) => ({ authorization: inOrder(base, { tokenId: 'token-2' }) }),
  ],
  [
    'a later expiry than was signed',
    'ORDER_DIFFERS',
    (base) => ({ authorization: inOrder(base, { expiresAt: '2027-01-31T09:30:00.000Z' }) }),
  ],
  [
    'another version of the authority',
    'AUTHORITY_VERSION_DIFFERS',
    (base) => ({ authorization: { ...base.authorization, authorityVersion: 2 } }),
  ],
  ['a token without a rule', 'TOKEN_NOT_PERMITTED', (base) => resigned(base, { contractAddress: listed })],
  ['a vote of format 1', 'AUTHORIZATION_MALFORMED', (base) => inVote(base, ({ vote }) => ({ vote: formerly(vote) }))],
  ['no time of a vote', 'AUTHORIZATION_MALFORMED', (base) => resigned(base, {}, { vote: { signedAt: 'now' } })],
  [
    'votes under another authority',
    'AUTHORITY_VERSION_DIFFERS',
    (base) => resigned(base, {}, { vote: { authority: hashOf(versions[1]) } }),
  ],
  [
    'votes under no authority',
    'AUTHORITY_VERSION_DIFFERS',
    (base) => resigned(base, {}, { vote: { authority: null } }),
  ],
  [
    'a vote that is signed later than now',
    'SIGNED_IN_FUTURE',
    (base) => resigned(base, {}, { vote: { signedAt: '2026-01-31T09:05:00.001Z' } }),
  ],
  ['no end', 'EXPIRES_TOO_LATE', (base) => resigned(base, { expiresAt: '9999-12-31T23:59:59.999Z' })],
  ['an end after 30 days', 'EXPIRES_TOO_LATE', (base) => resigned(base, { expiresAt: '2026-03-02T08:55:00.001Z' })],
  ['who may not order', 'NOT_INITIATED', (base) => resigned(base, {}, { by: emil })],
]

const ofVotes: Fault[] = [
  ['nobody signed', 'NOT_INITIATED', (base) => ({ authorization: votesOf(base) })],
  [
    'the initiator did not sign',
    'NOT_INITIATED',
    (base) => ({ authorization: votesOf(base, [ben, 'approve'], [carla, 'approve'], [dora, 'approve']) }),
  ],
  [
    'one vote too few',
    'VOTES_MISSING',
    (base) => ({ authorization: votesOf(base, [anna, 'initiate'], [ben, 'approve'], [dora, 'approve']) }),
  ],
  [
    'a rejection',
    'VOTES_MISSING',
    (base) => ({
      authorization: votesOf(base, [anna, 'initiate'], [ben, 'approve'], [carla, 'reject'], [dora, 'approve']),
    }),
  ],
  [
    'two keys of the initiator',
    'VOTES_MISSING',
    (base) => ({
      authorization: votesOf(base, [anna, 'initiate'], [annaToo, 'approve'], [ben, 'approve'], [dora, 'approve']),
    }),
  ],
  [
    'one voter twice',
    'VOTES_MISSING',
    (base) => ({
      authorization: votesOf(base, [anna, 'initiate'], [ben, 'approve'], [ben, 'approve'], [dora, 'approve']),
    }),
  ],
  [
    'no vote of the second group',
    'VOTES_MISSING',
    (base) => ({ authorization: votesOf(base, [anna, 'initiate'], [ben, 'approve'], [carla, 'approve']) }),
  ],
  ['a key that nobody registered', 'KEY_UNKNOWN', (base) => inVote(base, () => ({ keyId: stranger.entry.id }))],
  ['the key of somebody else', 'KEY_UNKNOWN', (base) => inVote(base, () => ({ keyId: carla.entry.id }))],
]

const ofSignatures: Fault[] = [
  ['padding', 'AUTHORIZATION_MALFORMED', (base) => inVote(base, ({ signature }) => ({ signature: `${signature}=` }))],
  [
    'a vote on an approval request',
    'ORDER_DIFFERS',
    (base) =>
      inVote(base, ({ vote }) => signVote(ben, { subject: 'approval_request', hash: vote.hash, decision: 'approve' })),
  ],
  [
    'one bit of the signature',
    'SIGNATURE_INVALID',
    (base, next) => inVote(base, ({ signature }) => ({ signature: flipped(signature, next(16)) })),
  ],
  [
    'a rejection turned into an approval',
    'SIGNATURE_INVALID',
    (base) =>
      inVote(base, ({ vote }) => {
        const rejection = signVote(ben, { hash: vote.hash, decision: 'reject' })
        return { ...rejection, vote: { ...rejection.vote, decision: 'approve' } }
      }),
  ],
  [
    'a key under the id of another',
    'SIGNATURE_INVALID',
    (base) =>
      inVote(base, ({ vote }) => ({
        signature: signVote(stranger, { hash: vote.hash, decision: 'approve' }).signature,
      })),
  ],
  ['another origin', 'SIGNATURE_INVALID', (base) => asserted(base, { origin: 'https://vault.example.com' })],
  ['a page in the frame of another', 'SIGNATURE_INVALID', (base) => asserted(base, { crossOrigin: true })],
  ['another RP ID', 'SIGNATURE_INVALID', (base) => asserted(base, { rpId: 'example.org' })],
  ['a key of the wallet page at the service', 'SIGNATURE_INVALID', (base) => atWallet(base, { origin, rpId })],
  [
    'a key of the wallet page with the origin of the service',
    'SIGNATURE_INVALID',
    (base) => atWallet(base, { origin }),
  ],
  ['a key of the wallet page with the RP ID of the service', 'SIGNATURE_INVALID', (base) => atWallet(base, { rpId })],
  [
    'a key of the service on the wallet page',
    'SIGNATURE_INVALID',
    (base) => asserted(base, { origin: signing.origins[0]!, rpId: signing.rpId }),
  ],
  ['another type', 'SIGNATURE_INVALID', (base) => asserted(base, { type: 'webauthn.create' })],
  ['nobody present', 'SIGNATURE_INVALID', (base) => asserted(base, { flags: 0x04 })],
  ['nobody verified', 'SIGNATURE_INVALID', (base) => asserted(base, { flags: 0x01 })],
  ['no client data', 'SIGNATURE_INVALID', (base) => inVote(base, () => ({ clientDataJSON: undefined }))],
]

const faults = [...ofRequest, ...ofOrder, ...ofVotes, ...ofSignatures]

function faulty(index: number, next: (below: number) => number): Vector {
  const [what, verdict, spoil] = faults[index % faults.length]!
  const amount = String(6000 + next(3000))
  const base = build(
    `faulty-${index}: ${what}`.replaceAll(/[^\w.:-]/g, '-'),
    { amount },
    { by: anna, approvers: [ben, carla, dora], version: 0 },
  )
  return { ...base, ...spoil(base, next), verdict }
}

/** 240 orders, of which half must be refused and 40 are rows of payouts; always the same. */
export function makeVectors(): { authorities: Authority[]; vectors: Vector[] } {
  const next = numbersFrom(18)
  const indexes = Array.from({ length: 100 }, (_, index) => index)
  const vectors = [...indexes.map((index) => right(index, next)), ...indexes.map((index) => faulty(index, next))]
  return { authorities: versions, vectors: [...vectors, ...payoutVectors()] }
}

/** One line for each vector, so that a difference can be read. */
export function toText({ authorities, vectors }: ReturnType<typeof makeVectors>): string {
  const lines = (list: unknown[]) => list.map((entry) => JSON.stringify(entry)).join(',\n')
  return `{"format":"strongroom-signed-order-vectors-1","authorities":[\n${lines(authorities)}\n],"vectors":[\n${lines(vectors)}\n]}\n`
}
