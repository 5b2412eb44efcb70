import { createPublicKey, verify } from 'node:crypto'
import { expect, it } from 'vitest'
import { type ServiceSigningKey, signVote } from './sign-vote.ts'

type Pair = Record<'privateKey' | 'publicKey', ServiceSigningKey['privateKey']>

it('signs the canonical form of a vote, as docs/signed-orders.md says', async () => {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as Pair
  const vote = {
    format: 'strongroom-vote-2',
    subject: 'transfer',
    hash: 'ab'.repeat(32),
    decision: 'initiate',
    person: 'cmf0000000000000000000001',
    authority: 'cd'.repeat(32),
    signedAt: '2026-01-31T09:30:00.000Z',
  } as const
  const signed = await signVote(vote, { id: 'cmf0000000000000000000009', privateKey: pair.privateKey })
  expect(signed).toEqual({
    vote,
    keyId: 'cmf0000000000000000000009',
    signature: expect.stringMatching(/^[\w-]{86}$/),
  })
  const spki = Buffer.from(await crypto.subtle.exportKey('spki', pair.publicKey))
  const text = [
    `{"authority":"${vote.authority}","decision":"initiate","format":"strongroom-vote-2","hash":"${vote.hash}",`,
    `"person":"${vote.person}","signedAt":"2026-01-31T09:30:00.000Z","subject":"transfer"}`,
  ].join('')
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  expect(verify(null, Buffer.from(text), key, Buffer.from(signed.signature, 'base64url'))).toBe(true)
})
