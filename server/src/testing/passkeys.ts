import { expect } from 'vitest'
import { hashOfBody } from '../http/confirmation.ts'
import type { Answer, AnswerOf, AnyBody, Method } from './answer.ts'
import type { Person } from './app.ts'
import { Authenticator } from './authenticator.ts'
import { newVote } from './votes.ts'

/** Adds a passkey for a person without one. It is in use at once. */
export async function addPasskey(person: Person): Promise<Authenticator> {
  const { key, answer } = await askForPasskey(person)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return key
}

export async function askForPasskey(
  person: Person,
  name = 'Phone',
): Promise<{ key: Authenticator; answer: AnswerOf<'post', '/users/me/passkeys'> }> {
  const key = new Authenticator()
  const { creation } = (await person.post('/users/me/passkeys/options', {})).body
  return { key, answer: await person.post('/users/me/passkeys', { name, credential: await key.register(creation) }) }
}

/** Adds the first passkey of a member of a protected vault. An administrator accepts it with a passkey of their own. */
export async function addAcceptedPasskey(
  person: Person,
  by: { admin: Person; key: Authenticator; url: `/vaults/${string}` },
) {
  const { key, answer } = await askForPasskey(person)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  const accepted = await acceptRequest(by, answer.body.request)
  expect([accepted.status, accepted.body.status]).toEqual([200, 'applied'])
  return key
}

/** Approves a request with a signed vote. */
export function acceptRequest(
  { admin, key, url }: { admin: Person; key: Authenticator; url: `/vaults/${string}` },
  { id, payloadHash }: { id: string; payloadHash: string },
): Promise<AnswerOf<'post', '/vaults/v/approval-requests/r/approve'>> {
  const person = admin.userId
  const signature = key.vote(newVote({ subject: 'approval_request', hash: payloadHash, decision: 'approve', person }))
  return admin.post(`${url}/approval-requests/${id}/approve`, { payloadHash, signature })
}

type WritingMethod = Exclude<Method, 'get'>
export type Write<M extends WritingMethod = WritingMethod, Url extends string = string> = {
  method: M
  url: Url
  body?: object
}

/** Returns the header with which the passkey confirms exactly this request. */
export async function confirmationOf(person: Person, key: Authenticator, { method, url, body: sent = {} }: Write) {
  const target = { method: method.toUpperCase(), path: `/api/v1${url}`, bodyHash: hashOfBody(sent)! }
  const { status, body } = await person.post('/users/me/passkeys/confirmation', target)
  expect(status, JSON.stringify(body)).toBe(200)
  const assertion = await key.confirm(target, body)
  return { 'passkey-assertion': Buffer.from(JSON.stringify(assertion)).toString('base64url') }
}

/** Sends a request that the passkey confirms. */
export async function confirmed<M extends WritingMethod, Url extends string>(
  person: Person,
  key: Authenticator,
  write: Write<M, Url>,
): Promise<AnswerOf<M, Url>> {
  return person.send(write.method, write.url, write.body, await confirmationOf(person, key, write))
}

/** Returns the person with a client like the SDK: when the service demands a confirmation, it confirms the request and sends it again. */
export function confirming(person: Person, key: Authenticator): Person {
  const write = async <M extends WritingMethod, Url extends string>(
    method: M,
    url: Url,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer: Answer<unknown> = await person.send(method, url, body, headers)
    if ((answer.body as Partial<AnyBody>).reason !== 'passkey_required') return answer as AnswerOf<M, Url>
    const confirmation = await confirmationOf(person, key, { method, url, body: body ?? {} })
    return person.send(method, url, body, { ...headers, ...confirmation })
  }
  return {
    ...person,
    post: (...request) => write('post', ...request),
    put: (...request) => write('put', ...request),
    patch: (...request) => write('patch', ...request),
    delete: (...request) => write('delete', ...request),
  }
}
