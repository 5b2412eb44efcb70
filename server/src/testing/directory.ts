import { expect } from 'vitest'
import { answerCheckOf } from './answer-check.ts'
import type { Person, TestApp } from './app.ts'

type ScimAnswer = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the answers of SCIM have no generated types; each is checked against openapi.json.
  body: any
  headers: Record<string, unknown>
}
type ScimClient = {
  token: string
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimAnswer>
}
export type TestDirectory = ScimClient & { id: string; author: Person; second: Person }

let number = 0

/** Sends requests as a directory does. Each answer is checked against openapi.json. */
export function scimClient(test: TestApp, token: string): ScimClient {
  const check = answerCheckOf(test.app)
  return {
    token,
    async send(method, path, body, headers = {}) {
      const url = `/scim/v2${path}`
      const type = body === undefined ? {} : { 'content-type': 'application/scim+json' }
      const response = await test.app.inject({
        method: method as 'GET',
        url,
        headers: { authorization: `Bearer ${token}`, ...type, ...headers },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const isJson = response.statusCode !== 204
      if (isJson) expect(response.headers['content-type'], `${method} ${url}`).toMatch(/^application\/scim\+json/)
      const answer = { status: response.statusCode, body: isJson ? response.json() : '', headers: response.headers }
      check(method, url, answer as never)
      if (answer.status >= 400) {
        expect(answer.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error'])
        expect(answer.body.status).toBe(String(answer.status))
      }
      return answer
    },
  }
}

/** Creates an active directory, with the two platform administrators who set it up. */
export async function createDirectory(test: TestApp, domains?: string[]): Promise<TestDirectory> {
  number += 1
  const author = await test.signIn(`directory-author-${number}@operator.example`, { isPlatformAdmin: true })
  const second = await test.signIn(`directory-second-${number}@operator.example`, { isPlatformAdmin: true })
  const created = await author.post('/directories', {
    name: `Directory ${number}`,
    domains: domains ?? [`corp${number}.example`],
  })
  expect(created.status).toBe(201)
  const { id, token } = created.body
  const change = await author.post(`/directories/${id}/activate`)
  expect(change.status).toBe(202)
  expect((await second.post(`/platform-changes/${change.body.id}/confirm`)).status).toBe(200)
  return { ...scimClient(test, token), id, author, second }
}

export const patchOf = (...operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})
export const userOf = (userName: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName,
  active: true,
  ...more,
})
