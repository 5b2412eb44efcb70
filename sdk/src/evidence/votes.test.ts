import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../server/src/lib/canonical-json.ts'
import { fingerprintOf, isSignedBy, type Vote } from '../../../server/src/lib/signed-vote.ts'
import { Authenticator } from '../../../server/src/testing/authenticator.ts'
import type { SignedVoteEvidence as VoteEvidence } from './evidence.ts'
import { type CheckedVote, checkVotes } from './votes.ts'

const origin = 'https://vault.example.org'
const payloadHash = '3b8b3b6a3b1f5a1d6a1e3a3d9d1cf0a1f25d3b4c5e6f708192a3b4c5d6e7f809'

const voteOf = (more: Partial<Vote> = {}): Vote => ({
  format: 'strongroom-vote-2',
  subject: 'transfer',
  hash: payloadHash,
  decision: 'approve',
  person: 'ada',
  authority: null,
  signedAt: '2026-11-01T12:00:00.000Z',
  ...more,
})

function byPasskey(algorithm: 'ES256' | 'EdDSA', vote = voteOf(), claims = {}): VoteEvidence {
  const key = new Authenticator(origin, algorithm)
  const publicKey = key.publicKey.toString('base64url')
  const createdAt = '2026-11-01T12:00:00.000Z'
  return { signed: key.vote(vote, claims), publicKey, rpId: 'vault.example.org', origin, createdAt }
}

function byService(vote = voteOf()): VoteEvidence {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const signature = sign(null, Buffer.from(canonicalJson(vote)), privateKey).toString('base64url')
  const spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
  const signed = { vote, keyId: 'payouts', signature }
  return { signed, publicKey: spki, rpId: null, origin: null, createdAt: '2026-11-01T12:00:00.000Z' }
}

/** The verdict of the service on the same vote, by code that shares nothing with this check. */
function serverSays({ signed, publicKey, rpId, origin: page }: VoteEvidence): CheckedVote['state'] {
  const spki = Buffer.from(publicKey, 'base64url')
  const key =
    rpId === null || page === null
      ? ({ kind: 'service', publicKey: spki } as const)
      : ({ kind: 'passkey', publicKey: spki, rpId, origins: [page] } as const)
  const isMeant = signed.vote.hash === payloadHash && signed.vote.subject === 'transfer'
  return isMeant && isSignedBy(signed as Parameters<typeof isSignedBy>[0], key) ? 'holds' : 'fails'
}

const verifyVotes = (votes: VoteEvidence[]) =>
  checkVotes(votes, { subject: 'transfer', hash: payloadHash, trusted: [] })

const stateOf = async (vote: VoteEvidence) => (await verifyVotes([vote]))[0]!

describe('T78 T58 what people signed', () => {
  it.each([
    ['a passkey with ECDSA', () => byPasskey('ES256')],
    ['a passkey with Ed25519', () => byPasskey('EdDSA')],
    ['the key of a service', () => byService()],
  ])('%s holds, with the fingerprint that people compare', async (_what, make) => {
    const vote = make()
    const fingerprint = fingerprintOf(Buffer.from(vote.publicKey, 'base64url'))
    const { origin } = vote
    const shown = { person: 'ada', decision: 'approve', fingerprint, origin, state: 'holds', faults: [] }
    expect(await stateOf(vote)).toEqual(shown)
    expect(serverSays(vote)).toBe('holds')
  })

  it('holds for a hundred signatures, whose numbers have leading zeros now and then', async () => {
    const votes = Array.from({ length: 100 }, () => byPasskey('ES256'))
    expect((await verifyVotes(votes)).filter(({ state }) => state !== 'holds')).toEqual([])
  })

  const another = (vote: VoteEvidence, signed: Partial<VoteEvidence['signed']>, key: Partial<VoteEvidence> = {}) => ({
    ...vote,
    ...key,
    signed: { ...vote.signed, ...signed },
  })
  it.each<[string, () => VoteEvidence]>([
    ['of another order', () => byPasskey('ES256', voteOf({ hash: '0'.repeat(64) }))],
    ['of a request', () => byPasskey('ES256', voteOf({ subject: 'approval_request' }))],
    ['with another decision', () => another(byPasskey('ES256'), { vote: voteOf({ decision: 'reject' }) })],
    ['of another person', () => another(byPasskey('EdDSA'), { vote: voteOf({ person: 'eve' }) })],
    ['by another key', () => another(byPasskey('ES256'), {}, { publicKey: byPasskey('ES256').publicKey })],
    ['on another page', () => byPasskey('ES256', voteOf(), { origin: 'https://evil.example.org' })],
    ['on a page in the frame of another', () => byPasskey('ES256', voteOf(), { crossOrigin: true })],
    ['for another host', () => byPasskey('ES256', voteOf(), { rpId: 'evil.example.org' })],
    ['without a check of the person', () => byPasskey('ES256', voteOf(), { isVerified: false })],
    [
      'of a service, by a key that passkeys have',
      () => another(byService(), {}, { publicKey: byPasskey('ES256').publicKey }),
    ],
    ['of a service, called a passkey', () => another(byService(), {}, { rpId: 'vault.example.org', origin })],
    ['of a passkey, called a service', () => another(byPasskey('EdDSA'), {}, { rpId: null, origin: null })],
    ['cut short', () => another(byPasskey('ES256'), { signature: 'MEUCIQ' })],
    ['that is not a text of bytes', () => another(byPasskey('ES256'), { signature: '*' })],
  ])('fails %s, as the service says', async (_what, make) => {
    const vote = make()
    expect(await stateOf(vote)).toMatchObject({ state: 'fails' })
    expect(serverSays(vote)).toBe('fails')
  })

  it('fails, and nothing else, where a file holds anything', async () => {
    const votes = [null, 1, {}, { signed: {} }, byService()] as VoteEvidence[]
    expect((await verifyVotes(votes)).map(({ state }) => state)).toEqual(['fails', 'fails', 'fails', 'fails', 'holds'])
  })
})
