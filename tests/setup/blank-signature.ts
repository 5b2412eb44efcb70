import { createHash, randomBytes } from 'node:crypto'
import { canonicalForm } from '../../wallet/src/authority/canonical.ts'
import type { AuthorityKey, SignedVote } from '../../wallet/src/authority/documents.ts'
import { isSignedBy } from '../../wallet/src/authority/verify-vote.ts'
import type { Lie } from './lying-service.ts'

/** The answer of a passkey, for any request. */
export type Signature = { id: string; clientDataJSON: string; authenticatorData: string; signature: string }

const sha256 = (data: string) => createHash('sha256').update(data).digest()

/** Votes that would move the money of a vault, in the formats that a wallet service ever accepted. */
export function wantedVotes(person: string): Record<string, string | null>[] {
  const hash = sha256('an order to the attacker').toString('hex')
  return ['transfer', 'payout', 'approval_request', 'authority'].flatMap((subject) =>
    ['initiate', 'approve'].flatMap((decision) => {
      const vote = { subject, hash, decision, person }
      const second = { authority: hash, signedAt: '2026-01-31T09:30:00.000Z' }
      return [
        { ...vote, format: 'strongroom-vote-1' },
        { ...vote, ...second, format: 'strongroom-vote-2' },
      ]
    }),
  )
}

/** The nonces of a service that was taken over: 32 bytes that authorise something when they are signed unchanged. */
export function lies(person: string): string[] {
  const votes = wantedVotes(person).map((vote) => sha256(canonicalForm(vote)).toString('base64url'))
  return [...votes, randomBytes(32).toString('base64url')]
}

/** Answers this nonce, and with everything that an older or careless client might take in its place. */
export const lyingAbout =
  (nonce: string): Lie =>
  (_path, body) =>
    replaceNonces(body, { nonce, challenge: nonce, origin: 'https://vault.example.org', purpose: 'vote' })

function replaceNonces(value: unknown, other: Record<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceNonces(item, other))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, replaceNonces(member, other)] as const)
  const copy = Object.fromEntries(members)
  return 'nonce' in copy && 'timeout' in copy ? { ...copy, ...other } : copy
}

/** The votes that the wallet service takes the signature for, by a key that its authority names. */
export function votesSignedBy(signature: Signature, publicKey: string, person: string, origin: string) {
  const { id: keyId, clientDataJSON, authenticatorData, signature: bytes } = signature
  const { hostname: rpId } = new URL(origin)
  const key: AuthorityKey = { id: keyId, person, name: 'Phone', kind: 'passkey', publicKey, rpId, origins: [origin] }
  return wantedVotes(person).filter((vote) =>
    isSignedBy(key, { vote, keyId, signature: bytes, authenticatorData, clientDataJSON } as unknown as SignedVote),
  )
}

/** The challenge that was signed, as base64url. */
export const challengeIn = ({ clientDataJSON }: Pick<Signature, 'clientDataJSON'>): string =>
  JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge
