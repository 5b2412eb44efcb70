import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { browserOf, confirmBySecond, createActiveProvider, startOf } from '../../../testing/active-provider.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { Authenticator } from '../../../testing/authenticator.ts'
import { TestProvider } from '../../../testing/identity-provider.ts'
import { createOutbox, linkIn, type Outbox } from '../../../testing/outbox.ts'
import { createSignInLink } from '../sign-in/actions.ts'

let test: TestApp
let outbox: Outbox
let idp: TestProvider
let admin: Person
let second: Person
let providerId: string
let bert: Person
const bertsKey = new Authenticator()

beforeAll(async () => {
  outbox = await createOutbox()
  test = await createTestApp({ DATA_DIR: outbox.dataDir })
  idp = await TestProvider.start(() => test.clock.now())
  admin = await test.signIn('admin@corp.example', { isPlatformAdmin: true })
  second = await test.signIn('second@corp.example', { isPlatformAdmin: true })
  bert = await test.signIn('bert@corp.example')
  idp.account = { subject: 'admin', email: admin.email, emailVerified: true }
  providerId = await createActiveProvider(test, { idp, admin, second })
})
afterAll(async () => {
  await idp.stop()
  await test.close()
  await outbox.remove()
})

const enforce = (value: boolean, by = admin) =>
  by.put(`/identity-providers/${providerId}/enforcement`, { enforce: value })
const confirm = (held: { status: number; body: unknown }) => confirmBySecond(held, { admin, second })
const isAlive = async ({ token }: { token: string }) =>
  (await test.client({ authorization: `Bearer ${token}` }).get('/auth/session')).status === 200

/** Signs in through the provider, and returns the session as a person. */
async function throughProvider(person: Person): Promise<Person> {
  idp.account = { subject: person.email.split('@')[0]!, email: person.email, emailVerified: true }
  const browser = browserOf(test)
  const end = await browser.visit(await browser.followProvider((await browser.visit(startOf(providerId))).location!))
  expect(end.location).toBe('/')
  const token = browser.session!
  return { ...test.client({ authorization: `Bearer ${token}` }), token, userId: person.userId, email: person.email }
}

/** Asks for a link. Returns the answer and the mailed link, which is null if no mail was sent. */
async function askForLink(email: string) {
  await outbox.clear()
  const answer = await test.anonymous.post('/auth/magic-link', { email })
  const { date: _, 'set-cookie': __, ...headers } = answer.headers
  await test.sendMails()
  const mail = (await outbox.read()).findLast(({ to }) => to === email)
  return { status: answer.status, body: answer.body, headers, link: mail === undefined ? null : linkIn(mail) }
}

async function addPasskey(person: Person, key: Authenticator): Promise<void> {
  const { creation } = (await person.post('/users/me/passkeys/options', {})).body
  const credential = await key.register(creation)
  expect((await person.post('/users/me/passkeys', { name: 'Phone', credential })).status).toBe(201)
}

async function signInWith(key: Authenticator) {
  const prepared = await test.anonymous.post('/auth/passkey/options', {})
  const cookie = String(prepared.headers['set-cookie']).split(';')[0]!
  return test.client({ cookie }).post('/auth/passkey', { credential: await key.signIn(prepared.body) })
}

/** Visits a link of a mail with these cookies, and returns where it leads and the session that it opened. */
async function follow({ pathname, search }: URL, cookies: unknown[]) {
  const cookie = cookies.map((text) => String(text).split(';')[0]!).join('; ')
  const { headers } = await test.app.inject({ method: 'GET', url: pathname + search, headers: { cookie } })
  const session = /session_token=([^;]+)/.exec(String(headers['set-cookie'] ?? ''))?.[1] ?? null
  return { location: headers.location, session }
}

const recordsOf = async (action: string) =>
  (await test.deps.db.selectFrom('audit_records').select('content').where('action', '=', action).execute()).map(
    ({ content }) => JSON.parse(content).details,
  )

describe('T95 an enforcement locks nobody out', () => {
  it('is refused while fewer than two platform administrators, or none without the provider, could sign in', async () => {
    expect((await admin.put('/identity-providers/nobodys/enforcement', { enforce: true })).status).toBe(404)
    expect((await enforce(false)).body.reason).toBe('wrong_state')
    const alone = await enforce(true)
    expect(alone.body).toMatchObject({
      reason: 'would_lock_out',
      details: 'Could not sign in: admin@corp.example, second@corp.example',
    })
    await throughProvider(admin)
    await throughProvider(second)
    expect((await enforce(true)).body).toMatchObject({
      reason: 'would_lock_out',
      details: 'Nobody could sign in without a provider',
    })
    await addPasskey(bert, bertsKey)
    await confirm(await admin.post('/break-glass-people', { userId: bert.userId }))
    expect((await enforce(true)).body.reason).toBe('would_lock_out')
    // A sign-in of too long ago does not count.
    const outsider = await test.signIn('out@platform.example', { isPlatformAdmin: true })
    const longAgo = new Date(test.clock.now().getTime() - 31 * 86_400_000)
    const used = (at: Date) => test.deps.db.updateTable('identities').set({ last_used_at: at }).execute()
    await used(longAgo)
    expect((await enforce(true)).body).toMatchObject({ details: expect.stringContaining('admin@corp.example') })
    await used(test.clock.now())
    await test.deps.db
      .updateTable('users')
      .set({ is_platform_admin: false })
      .where('id', '=', outsider.userId)
      .execute()
  })

  it('names break-glass people with a passkey alone, by two, at most five', async () => {
    const anna = await test.signIn('anna@corp.example')
    expect((await admin.post('/break-glass-people', { userId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' })).status).toBe(404)
    expect((await admin.post('/break-glass-people', { userId: anna.userId })).body.reason).toBe('wrong_state')
    expect((await admin.post('/break-glass-people', { userId: bert.userId })).body.reason).toBe('already_exists')
    for (const name of ['b', 'c', 'd', 'e']) {
      const person = await test.signIn(`${name}@corp.example`)
      await addPasskey(person, new Authenticator())
      await confirm(await admin.post('/break-glass-people', { userId: person.userId }))
    }
    await addPasskey(anna, new Authenticator())
    expect((await admin.post('/break-glass-people', { userId: anna.userId })).body.reason).toBe('limit_reached')
    const { items } = (await second.get('/break-glass-people?limit=3')).body
    expect(items.map(({ user, hasPasskey }) => [user!.name, hasPasskey])).toEqual([
      ['e', true],
      ['d', true],
      ['c', true],
    ])
    expect((await admin.delete('/break-glass-people/nobodys')).status).toBe(404)
    await confirm(await admin.delete(`/break-glass-people/${items[0]!.userId}`))
    expect((await second.get('/break-glass-people')).body.items).toHaveLength(4)
  })
})

describe('an enforced provider', () => {
  let before: Person
  const adminsKey = new Authenticator()
  const annasKey = new Authenticator()

  beforeAll(async () => {
    admin = await throughProvider(admin)
    second = await throughProvider(second)
    await addPasskey(admin, adminsKey)
    await confirm(await admin.post('/break-glass-people', { userId: admin.userId }))
    before = await test.signIn('carl@corp.example')
    await addPasskey(before, annasKey)
    const held = await enforce(true)
    expect((await test.anonymous.get('/auth/providers?email=x@corp.example')).body.providers[0]!.enforce).toBe(false)
    await confirm(held)
  })

  it('ends the sessions that it did not open, on the record', async () => {
    expect(await Promise.all([before, bert, admin, second].map(isAlive))).toEqual([false, false, true, true])
    expect(await recordsOf('session.revoked')).toContainEqual({ via: 'enforced' })
    expect((await admin.get(`/identity-providers/${providerId}`)).body.enforce).toBe(true)
    expect((await test.anonymous.get('/auth/providers?email=x@corp.example')).body.providers[0]!.enforce).toBe(true)
  })

  it('mails no link to its domains, with the answer of any other address', async () => {
    const free = await test.signIn('free@elsewhere.example')
    const other = await askForLink(free.email)
    expect(other.link).not.toBeNull()
    for (const email of [before.email, bert.email, 'nobody@corp.example', 'CARL@corp.example']) {
      const { status, body, headers, link } = await askForLink(email)
      expect([status, body, Object.keys(headers)]).toEqual([other.status, other.body, Object.keys(other.headers)])
      expect([email, link]).toEqual([email, null])
    }
  })

  it('opens no session by a passkey of its people, as if it were unknown', async () => {
    const refused = await signInWith(annasKey)
    const unknown = await signInWith(new Authenticator())
    const { requestId: _, ...body } = refused.body as { requestId?: string }
    expect(refused.status).toBe(401)
    expect(unknown.body).toMatchObject(body)
    await outbox.clear()
    await test.sendMails()
    expect((await outbox.read()).filter(({ subject }) => subject.includes('sign-in link'))).toEqual([])
  })

  it('leaves the link of an operator working', async () => {
    const now = test.clock.now()
    const link = await inTransaction(test.deps.db, (trx) => createSignInLink(trx, test.deps, before.email, now))
    const token = new URL(link).searchParams.get('token')!
    const signedIn = await test.anonymous.post('/auth/magic-link/verify', { token })
    expect(signedIn.status).toBe(200)
  })

  it('lets break-glass people in by passkey and then link, in one browser, for one hour, and announces the sign-in', async () => {
    await outbox.clear()
    const answer = await signInWith(bertsKey)
    expect([answer.status, answer.body.reason]).toEqual([401, 'link_required'])
    await test.sendMails()
    const link = linkIn((await outbox.read()).findLast(({ to }) => to === bert.email)!)
    expect(await follow(link, [])).toEqual({ location: '/sign-in?error=link', session: null })
    const elsewhere = { token: link.searchParams.get('token')! }
    expect((await test.anonymous.post('/auth/magic-link/verify', elsewhere)).status).toBe(401)
    const cookies = [answer.headers['set-cookie']].flat()
    const { location, session } = await follow(link, cookies)
    expect(location).toBe('/')
    const client = test.client({ authorization: `Bearer ${session}` })
    expect((await client.get('/auth/sessions')).body.items.find(({ current }) => current)!.method).toBe('break_glass')
    const minutes =
      (Date.parse((await client.get('/auth/session')).body.expiresAt!) - test.clock.now().getTime()) / 60_000
    expect(minutes).toBeGreaterThan(59)
    expect(minutes).toBeLessThanOrEqual(60)
    expect(await follow(link, cookies)).toMatchObject({ session: null })
    expect(await recordsOf('break_glass.used')).toMatchObject([{ email: bert.email }])
    test.clock.advance(120_000)
    const mailed = test.deps.db
      .selectFrom('notifications as n')
      .innerJoin('announcements as a', 'a.audit_record_id', 'n.subject_id')
    const audience = await mailed
      .innerJoin('users as u', 'u.id', 'n.user_id')
      .select('u.email')
      .where('a.content', 'like', '%without their identity provider%')
      .execute()
    expect(audience.map(({ email }) => email).sort()).toEqual([admin.email, second.email])
    test.clock.advance(59 * 60_000)
    expect((await client.get('/auth/session')).status).toBe(401)
  })

  it('T95 stays when one person stops the provider, and ends by two', async () => {
    const glass = admin.userId
    expect((await admin.delete(`/break-glass-people/${glass}`)).body.reason).toBe('would_lock_out')
    expect((await second.post(`/identity-providers/${providerId}/deactivate`, {})).status).toBe(200)
    expect((await askForLink(before.email)).link).toBeNull()
    const moved = { domains: ['other.example'] }
    admin = await test.signIn(admin.email)
    second = await test.signIn(second.email)
    expect((await admin.patch(`/identity-providers/${providerId}`, moved)).body.reason).toBe('wrong_state')
    await confirm(await enforce(false))
    expect((await askForLink(before.email)).link).not.toBeNull()
    expect((await signInWith(annasKey)).status).toBe(200)
    expect((await recordsOf('identity_provider.not_enforced')).length).toBe(1)
  })
})
