import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type ChallengeTerms, challengeOf } from '../sdk/src/signing/challenge.ts'
import { readClientData as readOfClient } from '../sdk/src/signing/client-data.ts'
import { challengeOf as challengeOfServer } from '../server/src/lib/challenge.ts'
import { type ClientData, readClientData } from '../server/src/lib/client-data.ts'
import { readClientData as readOfWallet } from '../wallet/src/authority/client-data.ts'

/** Every client and every verifier must compute the values of these files. Authors of another client test against them. */

const docs = new URL('../docs/', import.meta.url)
const file = new URL('challenges.vectors.json', docs)

const origin = 'https://vault.example.org'
const hashOfVote = createHash('sha256').update('a vote').digest('base64url')
const bodyHash = createHash('sha256').update('{}').digest('hex')
const nonce = 'GZ0Qm1Qz8mXc0mXjW0rVYwAAAZpR3mAAx8n2Q6gTr1uJ4eHk'
const call = { method: 'DELETE', path: '/api/v1/users/me/passkeys/cmi8h2k1p0a1b2c3d4e5f6g7h', bodyHash }

const purposes: [name: string, terms: ChallengeTerms][] = [
  ['a sign-in', { purpose: 'sign-in', origin, nonce }],
  ['a passkey that is added, and its confirmation', { purpose: 'add-passkey', origin, nonce }],
  ['a confirmation', { purpose: 'confirm', origin, nonce, ...call }],
  ['a confirmation of another method', { purpose: 'confirm', origin, nonce, ...call, method: 'PUT' }],
  ['another origin', { purpose: 'sign-in', origin: 'http://localhost:8420', nonce }],
  ['the hash of a vote as nonce', { purpose: 'sign-in', origin, nonce: hashOfVote }],
  ['the hash of a vote as nonce of a confirmation', { purpose: 'confirm', origin, nonce: hashOfVote, ...call }],
]

const said = { type: 'webauthn.get', challenge: hashOfVote, origin }
const readable = JSON.stringify(said)
const text = (json: string) => Buffer.from(json)
const withMore = (members: string) => text(`${readable.slice(0, -1)},${members}}`)

const clientData: [name: string, bytes: Buffer, read: ClientData | null][] = [
  ['as browsers write it', withMore('"crossOrigin":false'), said],
  ['without crossOrigin', text(readable), said],
  [
    'with members that nobody knows',
    withMore('"crossOrigin":false,"other_keys_can_be_added_here":"x","more":{"a":[1]}'),
    said,
  ],
  ['with white space', text(JSON.stringify(said, null, 2)), said],
  ['in another order', text(JSON.stringify({ origin, challenge: hashOfVote, type: said.type })), said],
  ['with escapes', text(readable.replace('https:', 'https\\u003a')), said],
  ['the same name at another depth', withMore('"more":{"type":"webauthn.create","type":"x"}'), said],
  ['in a frame of another origin', withMore('"crossOrigin":true'), null],
  ['crossOrigin is null', withMore('"crossOrigin":null'), null],
  ['crossOrigin is a text', withMore('"crossOrigin":"false"'), null],
  ['with a topOrigin', withMore('"crossOrigin":false,"topOrigin":"https://evil.example.org"'), null],
  ['with its own origin as topOrigin', withMore(`"topOrigin":"${origin}"`), null],
  ['with a byte order mark', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), text(readable)]), null],
  ['in UTF-16', Buffer.from(`\ufeff${readable}`, 'utf16le'), null],
  [
    'with bytes that are not UTF-8',
    Buffer.concat([text(readable).subarray(0, -1), Buffer.of(0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)]),
    null,
  ],
  ['a type twice', withMore('"type":"webauthn.get"'), null],
  ['another type first', text(`{"type":"webauthn.create",${readable.slice(1)}`), null],
  ['a challenge twice, once with an escape', withMore('"challen\\u0067e":"AAAA"'), null],
  ['an origin twice', withMore('"origin":"https://evil.example.org"'), null],
  ['crossOrigin twice', withMore('"crossOrigin":true,"crossOrigin":false'), null],
  ['a name twice that nobody knows', withMore('"a":1,"a":1'), null],
  ['a name twice, one with white space before its colon', withMore('"type" :"webauthn.get"'), null],
  ['white space before it', text(` ${readable}`), null],
  ['text after it', text(`${readable}x`), null],
  ['an array', text(`[${readable}]`), null],
  ['no JSON', withMore("'a':1"), null],
  ['a number that JSON has not', withMore('"a":NaN'), null],
  ['without a type', text(JSON.stringify({ challenge: hashOfVote, origin })), null],
  ['a challenge that is not text', text(JSON.stringify({ ...said, challenge: 1 })), null],
  ['an origin that is not text', text(JSON.stringify({ ...said, origin: [origin] })), null],
  ['nothing', text(''), null],
]

async function vectors() {
  const challenges = await Promise.all(
    purposes.map(async ([name, terms]) => ({
      name,
      document: { format: 'strongroom-challenge-1', ...terms },
      challenge: Buffer.from(await challengeOf(terms)).toString('base64url'),
    })),
  )
  const read = clientData.map(([name, bytes, read]) => ({ name, clientDataJSON: bytes.toString('base64url'), read }))
  return { format: 'strongroom-challenge-vectors-1', challenges, clientData: read }
}

describe('T79 challenges of sign-in, registration and confirmation', () => {
  it('T79 docs/challenges.vectors.json is current; WRITE_VECTORS=yes writes it', async () => {
    const current = `${JSON.stringify(await vectors(), null, 2)}\n`
    if (process.env.WRITE_VECTORS === 'yes') await writeFile(file, current)
    expect((await readFile(file, 'utf8')) === current).toBe(true)
  })

  it.each(purposes)('T79 the service computes the challenge of %s as its client does', async (_name, terms) => {
    expect(challengeOfServer(terms)).toBe(Buffer.from(await challengeOf(terms)).toString('base64url'))
  })

  it('T79 all challenges differ, and none equals an answer of a service', async () => {
    const { challenges } = await vectors()
    const all = challenges.map(({ challenge }) => challenge)
    expect(new Set([...all, hashOfVote, nonce]).size).toBe(all.length + 2)
  })

  it.each([
    ['no text', { nonce: 7 }, 'nonce'],
    ['a document', { nonce: '{"format":"strongroom-vote-2"}' }, 'nonce'],
    ['padded', { nonce: 'AAAA=' }, 'nonce'],
    ['empty', { nonce: '' }, 'nonce'],
    ['longer than any nonce', { nonce: 'A'.repeat(129) }, 'nonce'],
    ['for an origin with a path', { origin: `${origin}/` }, 'origin'],
    ['for no origin', { origin: 'null' }, 'origin'],
  ])('T79 a client signs nothing when the nonce is %s', async (_what, other, field) => {
    const terms = { purpose: 'sign-in', origin, nonce, ...other } as ChallengeTerms
    await expect(challengeOf(terms)).rejects.toMatchObject({ name: 'SigningError', field })
  })

  it.each(clientData)('T79 service, wallet service and /verify read client data %s alike', (_name, bytes, read) => {
    const readers = [readClientData, readOfWallet, readOfClient]
    expect(readers.map((reader) => reader(bytes))).toEqual([read, read, read])
  })

  it('T79 a program in another language agrees on all of them', async () => {
    const script = fileURLToPath(new URL('verify_challenges.py', docs))
    const { stdout } = await promisify(execFile)('python3', [script, fileURLToPath(file)]).catch((error) => error)
    expect(stdout).toBe(`${purposes.length + clientData.length} of ${purposes.length + clientData.length} agree\n`)
  })
})
