import { expect } from 'vitest'
import { hashOfBody } from '../http/confirmation.ts'
import type { Answer, Person } from './app.ts'
import { Authenticator } from './authenticator.ts'

/** A passkey of a person who had none, which is in use at once. */
export async function addPasskey(person: Person): Promise<Authenticator> {
  const { key, answer } = await askForPasskey(person)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return key
}

export async function askForPasskey(person: Person, name = 'Phone'): Promise<{ key: Authenticator; answer: Answer }> {
  const key = new Authenticator()
  const { creation } = (await person.post('/users/me/passkeys/options', {})).body
  return { key, answer: await person.post('/users/me/passkeys', { name, credential: key.create(creation) }) }
}

/** The first passkey of a member of a protected vault, which an administrator with a passkey of their own accepts. */
export async function addAcceptedPasskey(person: Person, by: { admin: Person; key: Authenticator; url: string }) {
  const { key, answer } = await askForPasskey(person)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  const accepted = await acceptRequest(by, answer.body.request)
  expect([accepted.status, accepted.body.status]).toEqual([200, 'applied'])
  return key
}

/** Approves a request with a signed vote. */
export function acceptRequest(
  { admin, key, url }: { admin: Person; key: Authenticator; url: string },
  { id, payloadHash }: { id: string; payloadHash: string },
): Promise<Answer> {
  const signature = key.vote({
    format: 'strongroom-vote-1',
    subject: 'approval_request',
    hash: payloadHash,
    decision: 'approve',
    person: admin.userId,
  })
  return admin.post(`${url}/approval-requests/${id}/approve`, { payloadHash, signature })
}

export type Write = { method: 'post' | 'put' | 'patch' | 'delete'; url: string; body?: object }

/** The header by which the passkey confirms exactly this request. */
export async function confirmationOf(person: Person, key: Authenticator, { method, url, body: sent = {} }: Write) {
  const asked = { method: method.toUpperCase(), path: `/api/v1${url}`, bodyHash: hashOfBody(sent) }
  const { status, body } = await person.post('/users/me/passkeys/confirmation', asked)
  expect(status, JSON.stringify(body)).toBe(200)
  return { 'passkey-assertion': Buffer.from(JSON.stringify(key.get(body))).toString('base64url') }
}

/** Sends a request that the passkey confirms. */
export async function confirmed(person: Person, key: Authenticator, write: Write): Promise<Answer> {
  return person[write.method](write.url, write.body, await confirmationOf(person, key, write))
}

/** The person as the SDK acts for them: what the service wants confirmed is confirmed, and sent again. */
export function confirming(person: Person, key: Authenticator): Person {
  const write =
    (method: Write['method']): Person['post'] =>
    async (url, body, headers = {}) => {
      const answer = await person[method](url, body, headers)
      if (answer.body?.reason !== 'passkey_required') return answer
      const confirmation = await confirmationOf(person, key, { method, url, body: body ?? {} })
      return person[method](url, body, { ...headers, ...confirmation })
    }
  return { ...person, post: write('post'), put: write('put'), patch: write('patch'), delete: write('delete') }
}
