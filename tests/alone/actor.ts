import { expect } from 'vitest'
import { inTransaction } from '../../server/src/db/transaction.ts'
import { createSignInLink } from '../../server/src/modules/people/sign-in/actions.ts'
import type { Answer } from '../../server/src/testing/answer.ts'
import type { Person, TestApp } from '../../server/src/testing/app.ts'
import { Authenticator } from '../../server/src/testing/authenticator.ts'
import { confirmationOf } from '../../server/src/testing/passkeys.ts'
import type { Drawn } from './requests.ts'

/**
 * A person who sends the drawn requests, as a browser would: they sign in again after a sign-out, confirm a request
 * with the passkey if it is needed, and make the bodies that only a browser can make.
 */
export class Actor {
  readonly #test: TestApp
  #person: Person
  /** The newest passkey, and its replacement until the service accepts it. */
  #key: Authenticator | null
  #newKey: Authenticator | null = null

  constructor(test: TestApp, person: Person, key: Authenticator | null) {
    this.#key = key
    this.#test = test
    this.#person = person
  }

  async send(drawn: Drawn): Promise<Answer<unknown>> {
    const answer = await this.#sendOnce(drawn)
    const { reason } = (answer.body ?? {}) as { reason?: string }
    if (reason !== 'invalid_token' || this.#person.email === undefined) return answer
    this.#person = await this.#test.signIn(this.#person.email)
    return this.#sendOnce(drawn)
  }

  async #sendOnce(drawn: Drawn): Promise<Answer<unknown>> {
    const { operationId, method, path, contentType } = drawn
    const body = (await this.#made(operationId)) ?? drawn.body
    const by = signingIn.has(operationId) ? this.#test.anonymous : this.#person
    const headers = { ...(contentType === undefined ? {} : { 'content-type': contentType }), ...this.#cookies }
    const send = (more: object): Promise<Answer<unknown>> =>
      by.send(method, path as `/vaults/${string}`, body, { ...headers, ...more })
    const answer = await send({})
    if (operationId === 'addPasskey' && answer.status === 201) this.#key = this.#newKey
    const { reason } = (answer.body ?? {}) as { reason?: string }
    if (reason !== 'passkey_required' || this.#key === null || contentType !== undefined) return answer
    const write = { method, url: path, body: (body ?? {}) as object }
    return send(await confirmationOf(this.#person, this.#key, write))
  }

  #cookies: Record<string, string> = {}

  /** Returns the body of an operation whose schema does not say how to make it. */
  async #made(operationId: string): Promise<unknown> {
    this.#cookies = {}
    const { email } = this.#person
    if (operationId === 'redeemMagicLink' && email !== undefined) {
      const { deps } = this.#test
      const link = await inTransaction(deps.db, (trx) => createSignInLink(trx, deps, email, deps.clock()))
      return { token: new URL(link).searchParams.get('token') }
    }
    if (operationId === 'addPasskey') return this.#newPasskey()
    if (operationId !== 'signInWithPasskey') return null
    if (this.#key === null)
      await this.#sendOnce({ operationId: 'addPasskey', method: 'post', path: '/users/me/passkeys' })
    const { status, body, headers } = await this.#test.anonymous.post('/auth/passkey/options')
    expect(status).toBe(200)
    if (this.#key === null) return null
    this.#cookies = { cookie: String([headers['set-cookie']].flat()[0]).split(';')[0]! }
    return { credential: await this.#key.signIn(body) }
  }

  async #newPasskey(): Promise<unknown> {
    const prepared = await this.#person.post('/users/me/passkeys/options', {})
    if (prepared.status !== 200) return null
    this.#newKey = new Authenticator()
    const { creation, confirmation } = prepared.body
    const credential = await this.#newKey.register(creation)
    if (this.#key === null || confirmation == null) return { name: 'Phone', credential }
    return { name: 'Phone', credential, confirmation: await this.#key.acceptPasskey(confirmation) }
  }
}

const signingIn = new Set(['redeemMagicLink', 'signInWithPasskey'])
