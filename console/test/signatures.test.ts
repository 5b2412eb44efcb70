import { generateKeyPairSync, sign } from 'node:crypto'
import type { VoteEvidence } from '@strongroom/sdk'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../server/src/lib/canonical-json.ts'
import type { Vote } from '../../server/src/lib/signed-vote.ts'
import { Authenticator } from '../../server/src/testing/authenticator.ts'
import { verifySignatures } from '../../server/src/verify-evidence.ts'
import { type CheckedVote, verifyVotes } from '../src/features/verify/signatures.ts'

const origin = 'https://vault.example.org'
const payload = { amount: '80000000', toAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC', transferId: 'transfer' }
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

/** What `strongroom evidence verify` says of the same vote. */
function serverSays(vote: VoteEvidence): CheckedVote['state'] {
  const [checked] = verifySignatures({ payload, payloadHash, signedVotes: [vote] }, []).votes
  return checked!.faults.length === 0 ? 'holds' : 'fails'
}

const stateOf = async (vote: VoteEvidence) => (await verifyVotes([vote], payloadHash))[0]!

describe('T58 what people signed', () => {
  it.each([
    ['a passkey with ECDSA', () => byPasskey('ES256')],
    ['a passkey with Ed25519', () => byPasskey('EdDSA')],
    ['the key of a service', () => byService()],
  ])('%s holds, with the fingerprint that the command shows', async (_what, make) => {
    const vote = make()
    const { fingerprint } = verifySignatures({ payload, payloadHash, signedVotes: [vote] }, []).votes[0]!
    const { origin } = vote
    const shown = { person: 'ada', decision: 'approve', fingerprint, origin, state: 'holds', faults: [] }
    expect(await stateOf(vote)).toEqual(shown)
    expect(serverSays(vote)).toBe('holds')
  })

  it('holds for a hundred signatures, whose numbers have leading zeros now and then', async () => {
    const votes = Array.from({ length: 100 }, () => byPasskey('ES256'))
    expect((await verifyVotes(votes, payloadHash)).filter(({ state }) => state !== 'holds')).toEqual([])
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
    ['that is no text of bytes', () => another(byPasskey('ES256'), { signature: '*' })],
  ])('fails %s, as the command says', async (_what, make) => {
    const vote = make()
    expect(await stateOf(vote)).toMatchObject({ state: 'fails' })
    expect(serverSays(vote)).toBe('fails')
  })

  it('fails, and nothing else, where a file holds anything', async () => {
    const votes = [null, 1, {}, { signed: {} }, byService()] as VoteEvidence[]
    expect((await verifyVotes(votes, payloadHash)).map(({ state }) => state)).toEqual([
      'fails',
      'fails',
      'fails',
      'fails',
      'holds',
    ])
  })
})
