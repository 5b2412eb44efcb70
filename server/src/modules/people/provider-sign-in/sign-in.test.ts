import { setTimeout as delay } from 'node:timers/promises'
import * as jose from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { judge } from '../../../jobs/watch/checks.ts'
import { readSamples } from '../../../jobs/watch/samples.ts'
import { browserOf, createActiveProvider, startOf } from '../../../testing/active-provider.ts'
import type { Person, TestApp } from '../../../testing/app.ts'
import { createTestApp } from '../../../testing/app.ts'
import { type Lie, type Passing, TestProvider } from '../../../testing/identity-provider.ts'
import { createOutbox, type Outbox } from '../../../testing/outbox.ts'
import { watchProviders } from '../providers/watch-providers.ts'

const origin = 'http://localhost:8420'
let test: TestApp
let outbox: Outbox
let idp: TestProvider
let admin: Person
let second: Person
let providerId: string

beforeAll(async () => {
  outbox = await createOutbox()
  test = await createTestApp({ DATA_DIR: outbox.dataDir })
  idp = await TestProvider.start(() => test.clock.now())
  admin = await test.signIn('admin@platform.example', { isPlatformAdmin: true })
  second = await test.signIn('second@platform.example', { isPlatformAdmin: true })
  await test.signIn('anna@corp.example')
  providerId = await createActiveProvider(test, { idp, admin, second })
})
afterAll(async () => {
  await idp.stop()
  await test.close()
  await outbox.remove()
})
afterEach(() => {
  idp.lie = null
  idp.account = { subject: 'subject-anna', email: 'anna@corp.example', emailVerified: true }
})

const newBrowser = () => browserOf(test)

type Outcome = { location: string | null; session: string | undefined; reason: string | null }

/** Signs in with a new browser. `change` alters the path to which the provider redirects the browser. */
async function signIn({ browser = newBrowser(), change = (path: string) => path } = {}): Promise<Outcome> {
  const before = await newestRefusal()
  const start = await browser.visit(startOf(providerId))
  const end = start.location!.startsWith('/')
    ? start
    : await browser.visit(change(await browser.followProvider(start.location!)))
  const after = await newestRefusal()
  return { location: end.location, session: browser.session, reason: after?.id === before?.id ? null : after!.reason }
}

async function newestRefusal(): Promise<{ id: string; reason: string } | null> {
  const records = test.deps.db.selectFrom('audit_records').select(['id', 'content'])
  const row = await records.where('action', '=', 'identity_provider.refused').orderBy('id', 'desc').executeTakeFirst()
  return row === undefined ? null : { id: row.id, reason: JSON.parse(row.content).details.reason }
}

const countSessions = async () =>
  Number(
    (
      await test.deps.db
        .selectFrom('sessions')
        .select((row) => row.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

describe('a sign-in through an identity provider', () => {
  it('opens a session of the person, which ends after the session hours of the provider', async () => {
    const { location, session, reason } = await signIn()
    expect([location, reason]).toEqual(['/', null])
    const current = await test.client({ authorization: `Bearer ${session}` }).get('/auth/session')
    expect(current.body.user.email).toBe('anna@corp.example')
    const hours = (Date.parse(current.body.expiresAt!) - test.clock.now().getTime()) / 3_600_000
    expect(hours).toBeGreaterThan(11.9)
    expect(hours).toBeLessThanOrEqual(12)
    const listed = await test.client({ authorization: `Bearer ${session}` }).get('/auth/sessions')
    expect(listed.body.items.find(({ current: isCurrent }) => isCurrent)).toMatchObject({
      method: 'provider',
      provider: { id: providerId, name: 'Corp', authenticatedAt: expect.stringMatching(/^20.*Z$/) },
    })
    const kept = await test.deps.db
      .selectFrom('sessions')
      .selectAll()
      .where('provider_id', '=', providerId)
      .executeTakeFirstOrThrow()
    expect(kept).toMatchObject({ provider_subject: 'subject-anna' })
    expect(kept.provider_sid).toEqual(expect.any(String))
    expect(kept.auth_time).toBeInstanceOf(Date)
  })

  it('shows which domains have a provider, and nothing about people', async () => {
    const of = async (email: string) => (await test.anonymous.get(`/auth/providers?email=${email}`)).body
    const known = { providers: [{ name: 'Corp', startUri: startOf(providerId), enforce: false }] }
    expect(await of('anna@corp.example')).toEqual(known)
    expect(await of('nobody@CORP.example')).toEqual(known)
    expect(await of('admin@platform.example')).toEqual({ providers: [] })
    expect(await of('anna@sub.corp.example')).toEqual({ providers: [] })
  })

  it('succeeds fifty times at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => signIn()))
    expect(outcomes.map(({ location }) => location)).toEqual(Array(50).fill('/'))
    expect(new Set(outcomes.map(({ session }) => session)).size).toBe(50)
  })

  it('begins on the sign-in page, which asks for the address first and says in one sentence that a sign-in failed', async () => {
    const page = (await newBrowser().visit('/sign-in')).body
    expect(page).toContain('data-providers')
    expect(page).toContain('>Continue</button>')
    const id = '01234567-89ab-cdef-0123-456789abcdef'
    const failed = (await newBrowser().visit(`/sign-in?error=provider&request=${id}`)).body
    expect(failed).toContain(`The sign-in through your provider did not work. Try again. Request: ${id}`)
    expect((await newBrowser().visit('/sign-in?error=provider&request=call-us-now')).body).not.toContain('call-us-now')
  })

  it('T87 ends only in the browser that began it, once', async () => {
    const [beginner, other] = [newBrowser(), newBrowser()]
    const path = await beginner.followProvider((await beginner.visit(startOf(providerId))).location!)
    expect((await other.visit(path)).location).toMatch(/^\/sign-in\?error=provider&request=[0-9a-f-]{36}$/)
    expect([other.session, (await newestRefusal())!.reason]).toEqual([undefined, 'browser'])
    const thief = beginner.copy()
    expect((await beginner.visit(path)).location).toBe('/')
    expect((await thief.visit(path)).location).toMatch(/^\/sign-in\?error=provider/)
    expect([thief.session, (await newestRefusal())!.reason]).toEqual([undefined, 'replayed'])
  })

  it('T86 links nobody whom the provider does not answer for', async () => {
    const persons = [
      [{ subject: 'm', email: 'admin@platform.example', emailVerified: true }, 'identity_unknown_foreign_email'],
      [{ subject: 'm', email: 'anna@sub.corp.example', emailVerified: true }, 'identity_unknown_foreign_email'],
      [{ subject: 'm', email: 'anna@corp.example', emailVerified: false }, 'identity_unknown_unverified_email'],
      [{ subject: 'm', email: 'a@corp.example@corp.example', emailVerified: true }, 'identity_unknown_email_missing'],
      [{ subject: 'm' }, 'identity_unknown_email_missing'],
      [{ subject: 'm', email: 'anna@corp.example', emailVerified: true }, 'identity_unknown_other_subject'],
      [{ subject: 'm', email: 'nobody@corp.example', emailVerified: true }, 'identity_unknown'],
    ] as const
    for (const [account, expected] of persons) {
      idp.account = account
      const before = await countSessions()
      expect((await signIn()).reason).toBe(expected)
      expect(await countSessions()).toBe(before)
    }
    const linked = await test.deps.db.selectFrom('identities').select('subject').execute()
    expect(linked).toEqual([{ subject: 'subject-anna' }])
    const strangers = test.deps.db.selectFrom('users').select('id').where('email', '=', 'nobody@corp.example')
    expect(await strangers.execute()).toEqual([])
  })
})

const token = '/token'
const metadata = '/.well-known/openid-configuration'
const keys = '/jwks'
const json = (answer: Passing, body: unknown): Passing => ({ ...answer, body: Buffer.from(JSON.stringify(body)) })
const inJson = (of: string, change: (body: Record<string, unknown>) => unknown): Lie => ({
  of,
  tell: (answer) => json(answer, change(JSON.parse(answer.body.toString()))),
})

type Signing = Parameters<TestProvider['sign']>[1]
/** Signs the ID token again, with changed claims, with the key of the provider or another key. */
const resigned = (change: (claims: jose.JWTPayload) => jose.JWTPayload, signing: () => Signing = () => ({})): Lie => ({
  of: token,
  tell: async (answer) => {
    const body = JSON.parse(answer.body.toString())
    return json(answer, { ...body, id_token: await idp.sign(change(jose.decodeJwt(body.id_token)), signing()) })
  },
})
const withToken = (change: (text: string) => string): Lie =>
  inJson(token, (body) => ({ ...body, id_token: change(String(body.id_token)) }))
const without = (claim: string) =>
  resigned((claims) => Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim)))
const seconds = () => Math.floor(Date.now() / 1000)
const text = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const same = (claims: jose.JWTPayload) => claims
let stranger: jose.GenerateKeyPairResult

beforeAll(async () => {
  stranger = await jose.generateKeyPair('RS256')
})

/** Wrong answers of a provider. Names with `rp-` are those of the OpenID Connect conformance tests for relying parties. */
const lies: [name: string, lie: () => Lie, reason: RegExp][] = [
  [
    'rp-id_token-bad-sig-rs256',
    () => withToken((jwt) => jwt.slice(0, -8) + (jwt.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA')),
    /signature/,
  ],
  [
    'groups of administrators under the old signature',
    () =>
      withToken((jwt) => {
        const [head, , signature] = jwt.split('.')
        return [head, text({ ...jose.decodeJwt(jwt), groups: ['administrators'] }), signature].join('.')
      }),
    /signature/,
  ],
  ['signature of a stranger', () => resigned(same, () => ({ key: stranger.privateKey })), /signature/],
  ['rp-id_token-issuer-mismatch', () => resigned((claims) => ({ ...claims, iss: 'https://evil.example' })), /iss/],
  ['issuer with a slash more', () => resigned((claims) => ({ ...claims, iss: `${claims.iss}/` })), /iss/],
  ['rp-id_token-missing-issuer', () => without('iss'), /oauth_invalid_response/],
  ['rp-id_token-aud', () => resigned((claims) => ({ ...claims, aud: 'somebody' })), /aud/],
  [
    'several audiences',
    () => resigned((claims) => ({ ...claims, aud: [idp.clientId, 'somebody'], azp: idp.clientId })),
    /audience/,
  ],
  [
    'authorised party',
    () => resigned((claims) => ({ ...claims, azp: 'somebody' })),
    /azp|authorized_party|invalid_response/,
  ],
  ['missing audience', () => without('aud'), /oauth_invalid_response/],
  ['rp-id_token-sub', () => without('sub'), /oauth_invalid_response/],
  ['subject that is a number', () => resigned((claims) => ({ ...claims, sub: 7 as never })), /sub|invalid_response/],
  ['subject that is empty', () => resigned((claims) => ({ ...claims, sub: '' })), /sub/],
  ['subject of 256 characters', () => resigned((claims) => ({ ...claims, sub: 's'.repeat(256) })), /subject/],
  ['rp-id_token-iat', () => without('iat'), /oauth_invalid_response/],
  ['issued an hour ago', () => resigned((claims) => ({ ...claims, iat: seconds() - 3600 })), /iat/],
  ['issued in an hour', () => resigned((claims) => ({ ...claims, iat: seconds() + 3600 })), /iat/],
  ['expired', () => resigned((claims) => ({ ...claims, exp: seconds() - 600 })), /exp/],
  ['without an end', () => without('exp'), /oauth_invalid_response/],
  ['not yet valid', () => resigned((claims) => ({ ...claims, nbf: seconds() + 3600 })), /nbf/],
  ['rp-nonce-invalid', () => resigned((claims) => ({ ...claims, nonce: 'another' })), /nonce/],
  ['without a nonce', () => without('nonce'), /oauth_invalid_response/],
  [
    'rp-id_token-sig-none',
    () => withToken((jwt) => `${text({ alg: 'none' })}.${jwt.split('.')[1]}.`),
    /alg|invalid_response|unsupported/,
  ],
  [
    'HMAC with the secret of the client',
    () => resigned(same, () => ({ header: { alg: 'HS256' }, key: new TextEncoder().encode(idp.clientSecret) })),
    /alg|invalid_response|unsupported/,
  ],
  [
    'HMAC with the public key',
    () =>
      resigned(same, () => ({ header: { alg: 'HS256' }, key: new TextEncoder().encode(String(idp.keys[0]!.jwk.n)) })),
    /alg|invalid_response|unsupported/,
  ],
  [
    'a key in the header',
    () => ({
      of: token,
      tell: async (answer) => {
        const body = JSON.parse(answer.body.toString())
        const header = { jwk: await jose.exportJWK(stranger.publicKey) }
        return json(answer, {
          ...body,
          id_token: await idp.sign(jose.decodeJwt(body.id_token), { header, key: stranger.privateKey }),
        })
      },
    }),
    /signature/,
  ],
  [
    'the address of a key in the header',
    () => resigned(same, () => ({ header: { jku: 'https://evil.example/keys' }, key: stranger.privateKey })),
    /signature/,
  ],
  ['rp-id_token-kid-unknown', () => resigned(same, () => ({ header: { kid: 'nobodys' } })), /no_matching/],
  [
    'a header that must be understood',
    () =>
      withToken((jwt) => {
        const [, body, signature] = jwt.split('.')
        return [text({ alg: 'RS256', kid: idp.keys[0]!.kid, crit: ['x'], x: 1 }), body, signature].join('.')
      }),
    /err_jo|oauth/,
  ],
  ['no ID token', () => inJson(token, ({ id_token: _, ...rest }) => rest), /invalid_response/],
  ['an ID token that is not a token', () => withToken(() => 'nothing'), /oauth_invalid_response/],
  [
    'an answer that is not JSON',
    () => ({ of: token, tell: (answer) => ({ ...answer, body: Buffer.from('<html>') }) }),
    /oauth_/,
  ],
  ['a failure', () => ({ of: token, tell: (answer) => ({ ...answer, status: 500 }) }), /not_conform/],
  [
    'redirect to a private address',
    () => ({
      of: token,
      tell: () => ({ status: 307, headers: { location: 'http://10.0.0.1/token' }, body: Buffer.alloc(0) }),
    }),
    /not_conform/,
  ],
  [
    'ten megabytes',
    () => ({ of: token, tell: (answer) => ({ ...answer, body: Buffer.alloc(10_000_000, ' ') }) }),
    /answer_too_long/,
  ],
  ['an answer after nine seconds', () => ({ of: token, tell: (answer) => delay(9_000, answer) }), /provider_silent/],
  ['keys that are empty', () => inJson(keys, () => ({ keys: [] })), /no_matching/],
  [
    'keys of somebody else',
    () => ({
      of: keys,
      tell: async (answer) =>
        json(answer, { keys: [{ ...(await jose.exportJWK(stranger.publicKey)), kid: idp.keys[0]!.kid, use: 'sig' }] }),
    }),
    /signature/,
  ],
  ['keys that are not keys', () => inJson(keys, () => 'keys'), /err_jwks_invalid/],
  ['keys that are not there', () => ({ of: keys, tell: (answer) => ({ ...answer, status: 404 }) }), /keys_unavailable/],
  [
    'keys of ten megabytes',
    () => ({ of: keys, tell: (answer) => ({ ...answer, body: Buffer.alloc(10_000_000, ' ') }) }),
    /answer_too_long/,
  ],
  [
    'rp-discovery-issuer-not-matching-config',
    () => inJson(metadata, (body) => ({ ...body, issuer: 'https://evil.example' })),
    /issuer|invalid_response|comparison/,
  ],
  [
    'metadata that are not JSON',
    () => ({ of: metadata, tell: (answer) => ({ ...answer, body: Buffer.from('<html>') }) }),
    /oauth_/,
  ],
  [
    'metadata that are not there',
    () => ({ of: metadata, tell: (answer) => ({ ...answer, status: 404 }) }),
    /not_conform/,
  ],
  [
    'metadata of ten megabytes',
    () => ({ of: metadata, tell: (answer) => ({ ...answer, body: Buffer.alloc(10_000_000, ' ') }) }),
    /answer_too_long/,
  ],
  [
    'metadata without a token endpoint',
    () => inJson(metadata, ({ token_endpoint: _, ...rest }) => rest),
    /discovery_endpoints/,
  ],
  [
    'keys at a private address',
    () => inJson(metadata, (body) => ({ ...body, jwks_uri: 'http://10.0.0.1/jwks' })),
    /target_refused/,
  ],
  [
    'tokens at a private address',
    () => inJson(metadata, (body) => ({ ...body, token_endpoint: 'http://169.254.169.254/token' })),
    /target_refused/,
  ],
]

/** Changes the query of the URL to which the provider redirects the browser. */
const withQuery = (change: (query: URLSearchParams) => void) => (path: string) => {
  const url = new URL(path, origin)
  change(url.searchParams)
  return `${url.pathname}${url.search}`
}

const answers: [name: string, change: (path: string) => string, reason: RegExp][] = [
  [
    'rp-iss-mismatch: another issuer',
    withQuery((query) => query.set('iss', 'https://evil.example')),
    /oauth_invalid_response/,
  ],
  ['no issuer, although the metadata promise one', withQuery((query) => query.delete('iss')), /oauth_invalid_response/],
  ['another state', withQuery((query) => query.set('state', 'another')), /browser/],
  ['no state', withQuery((query) => query.delete('state')), /browser/],
  ['two states', withQuery((query) => query.append('state', 'another')), /browser/],
  ['no code', withQuery((query) => query.delete('code')), /oauth_invalid_response/],
  ['another code', withQuery((query) => query.set('code', 'another')), /oauth_response_body_error/],
  ['two codes', withQuery((query) => query.append('code', 'another')), /oauth_invalid_response/],
  [
    'an error',
    (path) =>
      withQuery((query) => query.delete('code'))(withQuery((query) => query.set('error', 'access_denied'))(path)),
    /authorization_response_error/,
  ],
  [
    'an error beside the code',
    withQuery((query) => query.set('error', 'access_denied')),
    /authorization_response_error/,
  ],
  ['the path of another provider', (path) => path.replace(providerId, 'cmi8h2k1p0a1b2c3d4e5f6g7h'), /provider_unknown/],
]

/** Makes the service read metadata and keys again, as it does five seconds after a failure. */
async function readAgain(): Promise<void> {
  const browser = newBrowser()
  let start = (await browser.visit(startOf(providerId))).location!
  // Metadata that could not be read are requested again after five seconds.
  if (start.startsWith('/')) {
    test.clock.advance(5_000)
    start = (await browser.visit(startOf(providerId))).location!
  }
  const path = await browser.followProvider(start)
  test.clock.advance(5_000)
  await browser.visit(withQuery((query) => query.set('error', 'server_error'))(path))
}

describe('a provider that lies', () => {
  async function expectRefused(outcome: () => Promise<Outcome>, reason: RegExp): Promise<void> {
    const before = await countSessions()
    const { location, session, reason: recorded } = await outcome()
    expect(recorded).toMatch(reason)
    expect(location).toMatch(/^\/sign-in\?error=provider&request=/)
    expect(session).toBeUndefined()
    expect(await countSessions()).toBe(before)
  }

  it.each(lies)('T85 opens no session: %s', async (_name, lie, reason) => {
    await readAgain()
    idp.lie = lie()
    await expectRefused(signIn, reason)
  })

  describe('in the redirect to this service', () => {
    beforeAll(readAgain)

    it.each(answers)('T85 opens no session: the browser comes back with %s', async (_name, change, reason) => {
      await expectRefused(() => signIn({ change }), reason)
    })

    it('T85 opens no session with the code of another sign-in', async () => {
      const other = newBrowser()
      const path = await other.followProvider((await other.visit(startOf(providerId))).location!)
      const code = new URL(path, origin).searchParams.get('code')!
      await expectRefused(
        () => signIn({ change: withQuery((query) => query.set('code', code)) }),
        /oauth_response_body_error/,
      )
    })
  })

  it('T85 opens no session: rp-id_token-kid-absent-multiple-jwks', async () => {
    await idp.addKey('RS256')
    await readAgain()
    idp.lie = resigned(same, () => ({ header: { kid: undefined } }))
    await expectRefused(signIn, /multiple_matching/)
    idp.lie = null
    await idp.rotate()
    await readAgain()
    // With a single key the token needs no key id (rp-id_token-kid-absent-single-jwks).
    idp.lie = resigned(same, () => ({ header: { kid: undefined } }))
    expect((await signIn()).reason).toBeNull()
  })

  it('T89 replaces its key, and the next sign-in succeeds', async () => {
    expect((await signIn()).reason).toBeNull()
    for (const alg of ['RS256', 'ES256', 'PS256', 'EdDSA']) {
      await idp.rotate(alg)
      test.clock.advance(5_000)
      expect([alg, (await signIn()).reason]).toEqual([alg, null])
    }
    await idp.rotate('RS256')
    test.clock.advance(5_000)
  })
})

describe('a provider that fails', () => {
  /** Counts the answers of a path, all of which fail, while `work` runs. `slowly` is the time that each takes. */
  async function countFailures(of: string, work: () => Promise<void>, slowly = 0): Promise<number> {
    let count = 0
    idp.lie = {
      of,
      tell: (answer) => {
        count += 1
        test.clock.advance(slowly)
        return { ...answer, status: 500 }
      },
    }
    await work()
    idp.lie = null
    return count
  }

  it('is asked for its keys every five seconds at most, however many logout tokens of strangers arrive', async () => {
    await readAgain()
    const send = async () => {
      const payload = new URLSearchParams({ logout_token: `${text({ alg: 'RS256', kid: 'x' })}.${text({})}.AAAA` })
      const answer = await test.app.inject({
        method: 'POST',
        url: `/auth/oidc/${providerId}/backchannel-logout`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: payload.toString(),
      })
      expect(answer.statusCode).toBe(400)
    }
    const thrice = async () => {
      for (let count = 0; count < 3; count += 1) await send()
    }
    expect(await countFailures(keys, thrice)).toBe(1)
    test.clock.advance(5_000)
    expect(await countFailures(keys, thrice)).toBe(1)
    test.clock.advance(5_000)
    expect((await signIn()).reason).toBeNull()
    test.clock.advance(5_000)
    // These keys were read, and lack the key of the token.
    expect(await countFailures(keys, thrice)).toBe(1)
    test.clock.advance(5_000)
  })

  it('is asked for its metadata five seconds after a failure, however long the failure took', async () => {
    await readAgain()
    const start = async () => {
      for (let count = 0; count < 3; count += 1) await newBrowser().visit(startOf(providerId))
    }
    expect(await countFailures(metadata, start, 6_000)).toBe(1)
    test.clock.advance(5_000)
    expect((await signIn()).reason).toBeNull()
  })
})

describe('a logout at the provider', () => {
  const send = async (logoutToken: string, headers: Record<string, string> = {}) => {
    const { statusCode, headers: received } = await test.app.inject({
      method: 'POST',
      url: `/auth/oidc/${providerId}/backchannel-logout`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams({ logout_token: logoutToken }).toString(),
    })
    expect(received['cache-control']).toBe('no-store')
    return statusCode
  }
  const logoutHeader = { typ: 'logout+jwt' }
  const sidOf = async (session: string) => {
    const { id } = (await test.client({ authorization: `Bearer ${session}` }).get('/auth/sessions')).body.items.find(
      ({ current }) => current,
    )!
    const row = test.deps.db.selectFrom('sessions').select('provider_sid').where('id', '=', id)
    return (await row.executeTakeFirstOrThrow()).provider_sid!
  }
  const isAlive = async (session: string) =>
    (await test.client({ authorization: `Bearer ${session}` }).get('/auth/session')).status === 200

  it('T90 ends exactly the sessions that a signed token names, once, on the record', async () => {
    const [first, other] = [(await signIn()).session!, (await signIn()).session!]
    const linked = (await test.signIn('anna@corp.example')).token
    const token = await idp.sign(idp.logoutToken({ sid: await sidOf(first) }), { header: logoutHeader })
    expect(await send(token)).toBe(200)
    expect(await Promise.all([first, other, linked].map(isAlive))).toEqual([false, true, true])
    expect(await send(token)).toBe(400)
    expect((await newestRefusal())!.reason).toBe('logout_replayed')
    const records = test.deps.db.selectFrom('audit_records').select('content').where('action', '=', 'session.revoked')
    const newest = await records.orderBy('id', 'desc').executeTakeFirstOrThrow()
    expect(JSON.parse(newest.content).details).toEqual({ via: 'provider' })
    expect(await send(await idp.sign(idp.logoutToken({ sub: 'subject-anna' }), { header: logoutHeader }))).toBe(200)
    expect(await Promise.all([other, linked].map(isAlive))).toEqual([false, true])
  })

  const forgeries: [name: string, make: (sid: string) => string | Promise<string>, reason: RegExp][] = [
    [
      'without a signature',
      (sid) => `${text({ alg: 'none', ...logoutHeader })}.${text(idp.logoutToken({ sid }))}.`,
      /alg|jws/,
    ],
    [
      'of a stranger',
      (sid) => idp.sign(idp.logoutToken({ sid }), { header: logoutHeader, key: stranger.privateKey }),
      /signature/,
    ],
    ['of another type', (sid) => idp.sign(idp.logoutToken({ sid }), { header: { typ: 'JWT' } }), /typ/],
    [
      'for somebody else',
      (sid) => idp.sign(idp.logoutToken({ sid, aud: 'somebody' }), { header: logoutHeader }),
      /aud/,
    ],
    [
      'of another issuer',
      (sid) => idp.sign(idp.logoutToken({ sid, iss: 'https://evil.example' }), { header: logoutHeader }),
      /iss/,
    ],
    ['with a nonce', (sid) => idp.sign(idp.logoutToken({ sid, nonce: 'n' }), { header: logoutHeader }), /logout_nonce/],
    [
      'without the event',
      (sid) => idp.sign(idp.logoutToken({ sid, events: {} }), { header: logoutHeader }),
      /logout_event/,
    ],
    ['without an id', (sid) => idp.sign(idp.logoutToken({ sid, jti: undefined }), { header: logoutHeader }), /jti/],
    ['that names nobody', () => idp.sign(idp.logoutToken(), { header: logoutHeader }), /logout_names/],
    [
      'whose session is not a text',
      () => idp.sign(idp.logoutToken({ sub: 'subject-anna', sid: 7 }), { header: logoutHeader }),
      /logout_names/,
    ],
    [
      'of an hour ago',
      (sid) => idp.sign(idp.logoutToken({ sid, iat: seconds() - 3600 }), { header: logoutHeader }),
      /iat/,
    ],
  ]
  it.each(forgeries)('T90 ends no session by a token %s', async (_name, make, reason) => {
    const session = (await signIn()).session!
    expect(await send(await make(await sidOf(session)))).toBe(400)
    expect((await newestRefusal())!.reason).toMatch(reason)
    expect(await isAlive(session)).toBe(true)
  })
})

describe('the first sign-in by a mailed link', () => {
  it('T86 works in the browser that came from the provider, and in no other', async () => {
    await test.deps.db.updateTable('identity_providers').set({ linking: 'mail' }).where('id', '=', providerId).execute()
    await test.signIn('bert@corp.example')
    for (const [account, mails] of [
      [{ subject: 'nobody', email: 'nobody@corp.example' }, 0],
      [{ subject: 'bert', email: 'bert@corp.example' }, 1],
    ] as const) {
      idp.account = account
      const browser = newBrowser()
      const end = await browser.visit(
        await browser.followProvider((await browser.visit(startOf(providerId))).location!),
      )
      expect([end.status, end.body.includes('Look into your mail'), browser.session]).toEqual([200, true, undefined])
      const link = await linkOf(account.email)
      expect(link === null ? 0 : 1).toBe(mails)
      if (link === null) continue
      const stranger = newBrowser()
      expect((await stranger.visit(link)).body).toContain('Not in this browser')
      expect((await browser.visit(link)).location).toBe('/')
      expect(browser.session).toBeDefined()
      expect((await browser.copy().visit(link)).location).toBeNull()
    }
    idp.account = { subject: 'bert' }
    expect((await signIn()).location).toBe('/')
  })

  it('ends when the person signs out everywhere, or is disabled', async () => {
    const email = 'cora@corp.example'
    const cora = await test.signIn(email)
    idp.account = { subject: 'cora', email }
    const linkBeforeEnd = async (end: () => Promise<unknown>) => {
      const browser = newBrowser()
      await browser.visit(await browser.followProvider((await browser.visit(startOf(providerId))).location!))
      const link = await linkOf(email)
      await end()
      return (await browser.visit(link!)).location
    }
    const signOut = () => cora.post('/auth/sign-out-everywhere', {})
    expect(await linkBeforeEnd(signOut)).not.toBe('/')
    const leave = async () => {
      expect((await admin.post(`/users/${cora.userId}/disable`, { reason: 'Left' })).status).toBe(200)
      expect((await admin.post(`/users/${cora.userId}/enable`, { reason: 'Back' })).status).toBe(200)
    }
    expect(await linkBeforeEnd(leave)).not.toBe('/')
    expect(await linkBeforeEnd(async () => {})).toBe('/')
  })

  /** Sends the queued mails, and returns the path of the link to an address. */
  async function linkOf(email: string): Promise<string | null> {
    await test.sendMails()
    const mail = (await outbox.read()).findLast(({ to }) => to === email)
    const url = mail === undefined ? null : /http:\/\/localhost:8420(\/auth\/oidc\/link\?token=[\w-]+)/.exec(mail.text)
    return url?.[1] ?? null
  }
})

describe('the watch of providers', () => {
  it('alerts operators of a provider that does not answer, and of keys that were not read for an hour', async () => {
    const before = test.clock.now().getTime()
    const watch = async (minutes: number) => {
      test.clock.advance(minutes * 60_000)
      await watchProviders(test.deps)
      const samples = await readSamples(test.deps)
      const red = judge(samples).filter((finding) => finding.red.length > 0)
      const names = red.map(({ check }) => check.alert).filter((name) => name.includes('IdentityProvider'))
      const gaugeOf = (part: string) =>
        samples.find(({ gauge }) => gauge === `strongroom_identity_providers_${part}`)!.value
      return { names, failing: gaugeOf('failing'), age: gaugeOf('read_age_seconds') }
    }
    expect(await watch(6)).toMatchObject({ names: [], failing: 0 })
    for (const path of [metadata, keys]) {
      idp.lie = { of: path, tell: (answer) => ({ ...answer, status: 500 }) }
      expect(await watch(6)).toMatchObject({ names: [], failing: 1 })
      expect((await watch(11)).names).toEqual(['StrongroomIdentityProviderFails'])
      idp.lie = null
      // The watch reads a provider every five minutes at most, so that the provider still counts as failing.
      expect((await watch(1)).failing).toBe(1)
      expect(await watch(5)).toMatchObject({ names: [], failing: 0 })
    }
    expect((await watch(0)).age).toBeLessThan(10)
    test.clock.advance(3_601_000)
    const samples = await readSamples(test.deps)
    const unread = judge(samples).find(({ check }) => check.alert === 'StrongroomIdentityProviderUnread')!
    expect(unread.red).toHaveLength(1)
    // The provider signs its tokens with the real time.
    test.clock.advance(before - test.clock.now().getTime())
  })
})

describe('an account at a provider', () => {
  it('is shown to its person, and is removed by a platform administrator, which ends its sessions', async () => {
    const session = (await signIn()).session!
    const anna = test.client({ authorization: `Bearer ${session}` })
    const { id: userId } = (await anna.get('/auth/session')).body.user
    const [mine, ...others] = (await anna.get('/users/me/identities')).body.items
    expect(others).toEqual([])
    const shown = { issuer: idp.issuer, subject: 'subject-anna', providerName: 'Corp', linkedVia: 'email_verified' }
    expect(mine).toMatchObject(shown)
    expect((await admin.get(`/users/${userId}/identities`)).body.items).toEqual([mine])
    expect((await admin.get('/users/nobodys/identities')).status).toBe(404)
    expect((await admin.get('/users/me/identities')).body.items).toEqual([])
    expect((await anna.get(`/users/${userId}/identities`)).status).toBe(403)
    const path = `/users/${userId}/identities/${mine!.id}` as const
    expect((await anna.delete(path)).status).toBe(403)
    expect((await admin.delete(`/users/${second.userId}/identities/${mine!.id}`)).status).toBe(404)
    expect((await admin.delete(path)).status).toBe(204)
    expect((await admin.delete(path)).status).toBe(404)
    expect((await anna.get('/auth/session')).status).toBe(401)
    const records = test.deps.db.selectFrom('audit_records').select('content').where('action', '=', 'identity.unlinked')
    expect(JSON.parse((await records.executeTakeFirstOrThrow()).content).details).toEqual({
      email: 'anna@corp.example',
      issuer: idp.issuer,
      subject: 'subject-anna',
    })
    // The next sign-in links the identity again, which needs a mailed link.
    expect((await signIn()).session).toBeUndefined()
    const linked = test.deps.db.updateTable('identity_providers').set({ linking: 'email_verified' })
    await linked.where('id', '=', providerId).execute()
    expect((await signIn()).location).toBe('/')
  })
})

describe('a trial', () => {
  afterAll(async () => {
    const { redirectUri, logoutUri } = (await admin.get(`/identity-providers/${providerId}`)).body
    idp.register({ redirectUri, logoutUri })
  })

  it.each([
    ['name', { name: 'Other' }],
    ['domains', { domains: ['corp.example', 'evil.example'] }],
    ['client secret', { clientSecret: 'another-secret' }],
    ['linking', { linking: 'mail' }],
  ] as const)('T88 counts for the settings at its beginning: %s', async (_name, change) => {
    const draft = { name: 'Trial', issuer: idp.issuer, clientId: idp.clientId, domains: ['corp.example'] }
    const settings = { ...draft, clientSecret: idp.clientSecret, linking: 'email_verified' as const }
    const { id, redirectUri, logoutUri } = (await admin.post('/identity-providers', settings)).body
    idp.register({ redirectUri, logoutUri })
    const browser = newBrowser()
    browser.session = admin.token
    const path = await browser.followProvider((await browser.visit(startOf(id))).location!)
    expect((await admin.patch(`/identity-providers/${id}`, change)).status).toBe(200)
    expect((await browser.visit(path)).location).toMatch(/^\/sign-in\?error=provider/)
    expect((await newestRefusal())!.reason).toBe('trial_changed')
    expect((await admin.get(`/identity-providers/${id}`)).body.triedAt).toBeNull()
    expect((await admin.post(`/identity-providers/${id}/activate`, {})).body.reason).toBe('wrong_state')
  })
})

describe('the settings of a provider', () => {
  it('T88 stop at once, end its sessions, and are changed by its author alone', async () => {
    const session = (await signIn()).session!
    expect((await admin.patch(`/identity-providers/${providerId}`, { name: 'Other' })).body.reason).toBe('wrong_state')
    expect((await second.post(`/identity-providers/${providerId}/deactivate`, {})).body.status).toBe('off')
    expect((await test.client({ authorization: `Bearer ${session}` }).get('/auth/session')).status).toBe(401)
    expect((await signIn()).reason).toBe('provider_not_active')
    expect((await test.anonymous.get('/auth/providers?email=anna@corp.example')).body.providers).toEqual([])
    expect((await second.patch(`/identity-providers/${providerId}`, { name: 'Other' })).body.reason).toBe(
      'not_permitted',
    )
    const moved = { issuer: 'https://evil.example' }
    expect((await admin.patch(`/identity-providers/${providerId}`, moved)).status).toBe(400)
    for (const issuer of [
      'http://id.example.org',
      'https://user@id.example.org',
      'https://id.example.org/?a',
      'ftp://id',
    ])
      expect((await admin.patch(`/identity-providers/${providerId}`, { issuer, clientSecret: null })).status).toBe(400)
    expect((await admin.post(`/identity-providers/${providerId}/activate`, {})).body.reason).toBe('wrong_state')
  })
})
