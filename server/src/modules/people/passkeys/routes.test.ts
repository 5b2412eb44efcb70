import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOfBody } from '../../../http/confirmation.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { Authenticator } from '../../../testing/authenticator.ts'
import { createVaultFixture } from '../../../testing/fixtures.ts'
import type { Assertion } from './schema.ts'

let test: TestApp
beforeAll(async () => {
  test = await createTestApp()
})
afterAll(() => test.close())

let people = 0
const ofNoBody = hashOfBody({})!
const newPerson = () => {
  people += 1
  return test.signIn(`holder.${people}@example.org`)
}
const optionsFor = async (person: Person) => (await person.post('/users/me/passkeys/options', {})).body
const headerOf = (assertion: Assertion) => ({
  'passkey-assertion': Buffer.from(JSON.stringify(assertion)).toString('base64url'),
})

async function add(person: Person, key: Authenticator, present?: Authenticator) {
  const { creation, confirmation } = await optionsFor(person)
  return person.post('/users/me/passkeys', {
    name: 'Phone',
    credential: await key.register(creation),
    ...(present === undefined ? {} : { confirmation: await present.acceptPasskey(confirmation!) }),
  })
}

async function withPasskey(algorithm: 'ES256' | 'EdDSA' = 'ES256') {
  const person = await newPerson()
  const key = new Authenticator(undefined, algorithm)
  const { status, body } = await add(person, key)
  expect(status).toBe(201)
  return { person, key, id: body.id as string }
}

async function confirm(person: Person, key: Authenticator, path: string, method = 'DELETE') {
  const confirmed = { method, path: `/api/v1${path}`, bodyHash: ofNoBody }
  const { body } = await person.post('/users/me/passkeys/confirmation', confirmed)
  return headerOf(await key.confirm(confirmed, body))
}

type Answering = (options: { nonce: string }) => Assertion | Promise<Assertion>

/** Signs in as a browser that asks for a nonce and answers it, with its cookie. */
async function signInWith(answer: Answering, cookies = true) {
  const prepared = await test.anonymous.post('/auth/passkey/options', {})
  const cookie = String(prepared.headers['set-cookie']).split(';')[0]!
  const credential = await answer(prepared.body)
  const send = () => test.client(cookies ? { cookie } : {}).post('/auth/passkey', { credential })
  return { first: await send(), send }
}

describe('POST /users/me/passkeys', () => {
  it.each(['ES256', 'EdDSA'] as const)(
    'adds the first one (%s), on the record and announced by mail',
    async (algorithm) => {
      const { person, id, key } = await withPasskey(algorithm)
      const { body } = await person.get('/users/me/passkeys')
      expect(body).toEqual({
        items: [
          {
            id,
            credentialId: key.id.toString('base64url'),
            publicKey: expect.any(String),
            fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
            name: 'Phone',
            isSynced: false,
            createdAt: expect.any(String),
            lastUsedAt: null,
            waitsFor: null,
          },
        ],
        nextCursor: null,
      })
      const record = await test.deps.db
        .selectFrom('audit_records')
        .select(['chain', 'actor_id', 'target_type'])
        .where('action', '=', 'passkey.added')
        .where('target_id', '=', id)
        .execute()
      expect(record).toEqual([{ chain: 'platform', actor_id: person.userId, target_type: 'passkey' }])
      const mails = await test.deps.db.selectFrom('queued_mails').select('request').execute()
      expect(mails.map(({ request }) => request)).toContainEqual(
        expect.objectContaining({ kind: 'passkey', email: person.email, change: 'added', name: 'Phone' }),
      )
    },
  )

  it('accepts another passkey only with the confirmation of a passkey that the person has', async () => {
    const { person, key } = await withPasskey()
    const other = new Authenticator()
    expect((await add(person, other)).body.reason).toBe('passkey_required')
    expect((await add(person, other, new Authenticator())).body.reason).toBe('passkey_required')
    const stranger = await withPasskey()
    expect((await add(person, other, stranger.key)).body.reason).toBe('passkey_required')
    expect((await add(person, other, key)).status).toBe(201)
    expect((await person.get('/users/me/passkeys')).body.items).toHaveLength(2)
  })

  it('adds only one of two first passkeys that come at the same time without confirmation', async () => {
    const person = await newPerson()
    const answers = await Promise.all([add(person, new Authenticator()), add(person, new Authenticator())])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403])
  })

  it.each([
    ['of another origin', { origin: 'https://evil.example.org' }],
    ['of another service', { rpId: 'evil.example.org' }],
    ['without user verification', { isVerified: false }],
  ])('refuses an answer %s', async (_, flags) => {
    const person = await newPerson()
    const { creation } = await optionsFor(person)
    const answer = await person.post('/users/me/passkeys', {
      name: 'Phone',
      credential: await new Authenticator().register(creation, flags),
    })
    expect(answer).toMatchObject({ status: 409, body: { reason: 'passkey_not_accepted' } })
    expect((await person.get('/users/me/passkeys')).body.items).toEqual([])
  })

  it('refuses a nonce of another person, and a used, expired or changed nonce', async () => {
    const [person, stranger] = [await newPerson(), await newPerson()]
    const { creation } = await optionsFor(stranger)
    const send = (credential: unknown) => person.post('/users/me/passkeys', { name: 'Phone', credential })
    expect((await send(await new Authenticator().register(creation))).status).toBe(409)
    const options = (await optionsFor(person)).creation
    const changed = Buffer.from(options.nonce, 'base64url')
    changed[23]! ^= 1
    const late = await new Authenticator().register({ nonce: changed.toString('base64url') })
    expect((await send(late)).body.reason).toBe('passkey_not_accepted')
    const ended = (await optionsFor(person)).creation
    test.clock.advance(5 * 60_000)
    expect((await send(await new Authenticator().register(ended))).status).toBe(409)
    const fresh = (await optionsFor(person)).creation
    expect((await send(await new Authenticator().register(fresh))).status).toBe(201)
    expect((await person.get('/users/me/passkeys')).body.items).toHaveLength(1)
  })

  it('is not for services', async () => {
    const vault = await createVaultFixture(test)
    const { body } = await vault.admin.post(`/vaults/${vault.code}/service-tokens`, {
      name: 'Payouts',
      groupIds: [vault.groups.administrators],
    })
    const service = test.client({ authorization: `Bearer ${body.token}` })
    expect((await service.post('/users/me/passkeys/options', {})).body.reason).toBe('person_required')
  })
})

describe('DELETE /users/me/passkeys/{id}', () => {
  it('needs a passkey that signed for exactly this request, once', async () => {
    const { person, key, id } = await withPasskey()
    const second = new Authenticator()
    const { body: added } = await add(person, second, key)
    const path = `/users/me/passkeys/${id}` as const
    const remove = (headers = {}) => person.delete(path, undefined, headers)
    expect((await remove()).body.reason).toBe('passkey_required')
    const refused = [
      await confirm(person, new Authenticator(), path),
      await confirm(person, key, `/users/me/passkeys/${added.id}`),
      await confirm(person, key, path, 'POST'),
    ]
    for (const headers of refused) expect((await remove(headers)).body.reason).toBe('passkey_required')
    expect((await remove({ 'passkey-assertion': 'bm90IGpzb24' })).status).toBe(400)
    const headers = await confirm(person, second, path)
    expect((await remove(headers)).status).toBe(204)
    expect((await remove(headers)).body.reason).toBe('passkey_required')
    expect((await person.get('/users/me/passkeys')).body.items.map((item) => item.id)).toEqual([added.id])
  })

  it('does not find the passkey of somebody else', async () => {
    const { person, key } = await withPasskey()
    const { id } = await withPasskey()
    const headers = await confirm(person, key, `/users/me/passkeys/${id}`)
    expect((await person.delete(`/users/me/passkeys/${id}`, undefined, headers)).status).toBe(404)
  })
})

describe('POST /auth/passkey', () => {
  it('signs in without a mail, once for each answer', async () => {
    const { person, key } = await withPasskey()
    const { first, send } = await signInWith((options) => key.signIn(options))
    expect(first).toMatchObject({ status: 200, body: { user: { id: person.userId } } })
    const session = await test.client({ authorization: `Bearer ${first.body.token}` }).get('/auth/sessions')
    expect(session.body.items.find((item) => item.current)!.method).toBe('passkey')
    expect(await send()).toMatchObject({ status: 401, body: { reason: 'invalid_passkey' } })
    const { body } = await person.get('/users/me/passkeys')
    expect(body.items[0]!.lastUsedAt).not.toBeNull()
  })

  it('refuses another browser, an unknown passkey, a forged signature and a count that went back', async () => {
    const { key } = await withPasskey()
    const refused = async (answer: Answering, cookies = true) => {
      const { first } = await signInWith(answer, cookies)
      expect(first).toMatchObject({ status: 401, body: { reason: 'invalid_passkey' } })
    }
    await refused((options) => key.signIn(options), false)
    await refused((options) => new Authenticator().signIn(options))
    const impostor = new Authenticator()
    await refused(async (options) => ({ ...(await impostor.signIn(options)), id: key.id.toString('base64url') }))
    await refused((options) => key.signIn(options, { isVerified: false }))
    await refused((options) => key.signIn(options, { origin: 'https://evil.example.org' }))
    expect((await signInWith((options) => key.signIn(options, { count: 9 }))).first.status).toBe(200)
    await refused((options) => key.signIn(options, { count: 9 }))
  })

  it('does not accept a confirmation as a sign-in, or a sign-in as a confirmation', async () => {
    const { person, key, id } = await withPasskey()
    const path = `/users/me/passkeys/${id}` as const
    const removal = { method: 'DELETE', path: `/api/v1${path}`, bodyHash: ofNoBody }
    const { body: confirmation } = await person.post('/users/me/passkeys/confirmation', removal)
    // Each answer has the nonce of one purpose and a signature for the same or the other purpose.
    expect((await signInWith(() => key.signIn(confirmation))).first.status).toBe(401)
    expect((await signInWith(() => key.confirm(removal, confirmation))).first.status).toBe(401)
    expect((await signInWith((options) => key.confirm(removal, options))).first.status).toBe(401)
    const prepared = await test.anonymous.post('/auth/passkey/options', {})
    for (const signed of [
      await key.signIn(prepared.body),
      await key.confirm(removal, prepared.body),
      await key.signIn(confirmation),
      await key.acceptPasskey(confirmation),
    ]) {
      expect((await person.delete(path, undefined, headerOf(signed))).body.reason).toBe('passkey_required')
    }
    expect((await person.delete(path, undefined, headerOf(await key.confirm(removal, confirmation)))).status).toBe(204)
  })

  it('does not sign in a disabled person', async () => {
    const { person, key } = await withPasskey()
    const root = await test.signIn('root@example.org', { isPlatformAdmin: true })
    await root.post(`/users/${person.userId}/disable`, { reason: 'Left' })
    expect((await signInWith((options) => key.signIn(options))).first.body.reason).toBe('invalid_passkey')
  })
})

describe('T79 an answer of a passkey whose signatures are not counted is believed once', () => {
  /** As passkeys that are synced: the authenticator answers a count of 0 each time. */
  const uncounted = { count: 0, isSynced: true }

  it('in a sign-in, in the browser that asked', async () => {
    const { key } = await withPasskey()
    const { first, send } = await signInWith((options) => key.signIn(options, uncounted))
    expect(first.status).toBe(200)
    const { token } = first.body
    expect(await send()).toMatchObject({ status: 401, body: { reason: 'invalid_passkey' } })
    expect((await test.client({ authorization: `Bearer ${token}` }).get('/auth/session')).status).toBe(200)
  })

  it('in a confirmation, for the same request', async () => {
    const { person, key } = await withPasskey()
    const { creation, confirmation: confirmationOptions } = await optionsFor(person)
    const accepted = await key.acceptPasskey(confirmationOptions!, uncounted)
    const credential = await new Authenticator().register(creation)
    const { id } = (await person.post('/users/me/passkeys', { name: 'Key', credential, confirmation: accepted })).body
    const removal = { method: 'DELETE', bodyHash: ofNoBody, path: `/api/v1/users/me/passkeys/${id}` }
    const prepared = (await person.post('/users/me/passkeys/confirmation', removal)).body
    const confirmation = headerOf(await key.confirm(removal, prepared, uncounted))
    const remove = () => person.delete(`/users/me/passkeys/${id}`, undefined, confirmation)
    expect((await remove()).status).toBe(204)
    expect((await remove()).body.reason).toBe('passkey_required')
  })

  it('when a passkey is added, by the key that confirms it and by the key that is made', async () => {
    const { person, key } = await withPasskey()
    const { creation, confirmation } = await optionsFor(person)
    const confirmed = await key.acceptPasskey(confirmation!, uncounted)
    const send = async (credential: unknown, by: unknown) =>
      (await person.post('/users/me/passkeys', { name: 'Key', credential, confirmation: by })).body
    const made = await new Authenticator().register(creation, { isSynced: true })
    expect(await send(made, confirmed)).toMatchObject({ name: 'Key' })
    const next = await optionsFor(person)
    const other = await new Authenticator().register(next.creation)
    expect((await send(other, confirmed)).reason).toBe('passkey_required')
    const again = await new Authenticator().register(creation)
    expect((await send(again, await key.acceptPasskey(next.confirmation!, uncounted))).reason).toBe(
      'passkey_not_accepted',
    )
  })
})

describe('T79 refuses an answer in a frame of another origin, and an ambiguous answer', () => {
  const alterations: [what: string, alter: (json: string) => string | Buffer][] = [
    ['crossOrigin true', (json) => json.replace('"crossOrigin":false', '"crossOrigin":true')],
    ['crossOrigin null', (json) => json.replace('"crossOrigin":false', '"crossOrigin":null')],
    ['a topOrigin', (json) => json.replace('}', ',"topOrigin":"http://localhost:8420"}')],
    ['a byte order mark', (json) => `\ufeff${json}`],
    ['a member twice', (json) => json.replace('}', ',"challenge":"AAAA"}')],
    ['a member twice, the same', (json) => json.replace('{', '{"crossOrigin":false,')],
  ]

  it.each(alterations)('with %s', async (_what, alter) => {
    const { person, key, id } = await withPasskey()
    expect((await signInWith((options) => key.signIn(options, { alter }))).first.body.reason).toBe('invalid_passkey')
    const path = `/users/me/passkeys/${id}` as const
    const removal = { method: 'DELETE', path: `/api/v1${path}`, bodyHash: ofNoBody }
    const { body } = await person.post('/users/me/passkeys/confirmation', removal)
    const headers = headerOf(await key.confirm(removal, body, { alter }))
    expect((await person.delete(path, undefined, headers)).body.reason).toBe('passkey_required')
    const stranger = await newPerson()
    const { creation } = await optionsFor(stranger)
    const credential = await new Authenticator().register(creation, { alter })
    const added = await stranger.post('/users/me/passkeys', { name: 'Phone', credential })
    expect(added.body.reason).toBe('passkey_not_accepted')
    expect((await signInWith((options) => key.signIn(options))).first.status).toBe(200)
  })

  it('and a second spelling of its base64url', async () => {
    const { key } = await withPasskey()
    const respelt = (text: string) => {
      const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      return text.slice(0, -1) + last[last.indexOf(text.at(-1)!) + 1]
    }
    const { first } = await signInWith(({ nonce }) => key.signIn({ nonce: respelt(nonce) }))
    expect(first.body.reason).toBe('invalid_passkey')
  })
})
