import { expect } from 'vitest'
import { inTransaction } from '../../server/src/db/transaction.ts'
import { createSignInLink } from '../../server/src/modules/people/sign-in/actions.ts'
import type { RunningServer } from '../../server/src/start.ts'
import type { BodyOf, Method } from '../../server/src/testing/answer.ts'

/** A request that must be answered with the status; its body is what openapi.json documents for it. */
export type Call = <M extends Uppercase<Method>, Url extends string>(
  method: M,
  path: Url,
  status: number,
  body?: object,
  headers?: object,
) => Promise<BodyOf<Lowercase<M> & Method, Url>>

export async function signInTo(server: RunningServer, email: string): Promise<Call> {
  return callTo(server.url, await tokenOf(server, email))
}

/** Exchanges the token of an operator's sign-in link for a Bearer token, as a service does. */
export async function tokenOf({ deps, url }: RunningServer, email: string): Promise<string> {
  const link = new URL(await inTransaction(deps.db, (trx) => createSignInLink(trx, deps, email, new Date())))
  const token = link.searchParams.get('token')
  return (await callTo(url)('POST', '/auth/magic-link/verify', 200, { token })).token
}

export const callTo =
  (url: string, bearer = ''): Call =>
  async (method, path, status, body, headers) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...headers,
        ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    expect(response.status, `${method} ${path}: ${text}`).toBe(status)
    return text === '' ? null : JSON.parse(text)
  }

export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 150_000
  while (!(await isTrue())) {
    if (Date.now() > deadline) expect.fail('What was waited for did not happen within 150 s')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
