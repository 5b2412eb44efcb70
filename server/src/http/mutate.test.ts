import pg from 'pg'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../jobs/housekeeping.ts'
import { conflict, forbidden } from '../lib/errors.ts'
import { idempotencyRunningMinutesMax as runningMinutesMax } from '../lib/limits.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import type { App } from './endpoints.ts'
import { answerOnce, created, mutate, ok } from './mutate.ts'
import { route } from './route.ts'
import { Closed } from './schema.ts'

const hour = 3_600_000
const Write = Closed({ n: Type.Integer(), how: Type.Optional(Type.String()) })

let test: TestApp
let person: Person
let other: Person
let shell: App
let owner: pg.Client
/** The work of a request waits for this promise. */
let hold: Promise<void> = Promise.resolve()
let entered: () => void = () => {}
let reads = 0

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  other = await test.signIn('other@example.org')
  owner = new pg.Client({ connectionString: test.databaseUrl })
  await owner.connect()
  await owner.query('create table effects (n integer); grant insert, select on effects to strongroom_app')
  shell = await createTestShell(test.deps, addTestRoutes)
})
afterAll(async () => {
  await owner.end()
  await shell.close()
  await test.close()
})
beforeEach(async () => {
  await owner.query('truncate effects, idempotency_keys')
})

describe('T50 Idempotency-Key', () => {
  it('gives the same answer again and has the effect once', async () => {
    const first = await write({ n: 1 }, 'key-1')
    const second = await write({ n: 1 }, 'key-1')
    expect(first.statusCode).toBe(201)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(second.statusCode).toBe(201)
    expect(second.body).toBe(first.body)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(second.headers['content-type']).toBe(first.headers['content-type'])
    expect(await effects()).toEqual([1])
  })

  it('replays an answer without a body', async () => {
    await write({ n: 1, how: 'no content' }, 'key-1')
    const second = await write({ n: 1, how: 'no content' }, 'key-1')
    expect([second.statusCode, second.body]).toEqual([204, ''])
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(await effects()).toEqual([1])
  })

  it('replays a refusal that left a trace', async () => {
    const first = await write({ n: 1, how: 'refuse' }, 'key-1')
    const second = await write({ n: 1, how: 'refuse' }, 'key-1')
    expect(first.statusCode).toBe(403)
    expect(second.statusCode).toBe(403)
    expect(second.json()).toEqual({
      error: 'Forbidden',
      message: 'Blocked by policy',
      code: 403,
      reason: 'blocked_by_policy',
      requestId: first.headers['x-request-id'],
    })
    expect(await effects()).toEqual([1])
  })

  it('has its effect every time without the header', async () => {
    await write({ n: 1 })
    await write({ n: 1 })
    expect(await effects()).toEqual([1, 1])
  })

  it('ignores the order and spacing of the body', async () => {
    await inject('/writes', '{"n":1,"how":"plain"}', 'key-1', person)
    const second = await inject('/writes', '{ "n": 1, "how": "plain" }', 'key-1', person)
    expect(second.headers['idempotency-replayed']).toBe('true')
  })

  it('answers 409 for another body or path under the same key', async () => {
    await write({ n: 1 }, 'key-1')
    for (const [url, body] of [
      ['/writes', { n: 2 }],
      ['/other-writes', { n: 1 }],
      ['/writes?a=1', { n: 1 }],
    ] as const) {
      const answer = await inject(url, JSON.stringify(body), 'key-1', person)
      expect([url, answer.statusCode]).toEqual([url, url.includes('?') ? 400 : 409])
    }
    expect(await effects()).toEqual([1])
  })

  it('answers 409 while the first is still running, and then its answer', async () => {
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const isInside = new Promise<void>((resolve) => {
      entered = resolve
    })
    const first = write({ n: 1 }, 'key-1')
    await isInside
    const during = await write({ n: 1 }, 'key-1')
    expect(during.statusCode).toBe(409)
    expect(during.json().details).toBe('A request with this Idempotency-Key is still running')
    release()
    expect((await first).statusCode).toBe(201)
    expect((await write({ n: 1 }, 'key-1')).headers['idempotency-replayed']).toBe('true')
    expect(await effects()).toEqual([1])
  })

  it('has one effect under 20 concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => write({ n: 7 }, 'key-1')))
    const statuses = new Set(answers.map((answer) => answer.statusCode))
    expect([...statuses].every((status) => status === 201 || status === 409)).toBe(true)
    expect(statuses.has(201)).toBe(true)
    expect(await effects()).toEqual([7])
  })

  it('belongs to its caller', async () => {
    await write({ n: 1 }, 'key-1', person)
    const answer = await write({ n: 2 }, 'key-1', other)
    expect(answer.statusCode).toBe(201)
    expect(await effects()).toEqual([1, 2])
  })

  it('does not store a request that had no effect', async () => {
    expect((await write({ n: 1, how: 'fail' }, 'key-1')).statusCode).toBe(409)
    expect(await effects()).toEqual([])
    expect(await storedKeys()).toBe(0)
    expect((await write({ n: 1, how: 'break' }, 'key-1')).statusCode).toBe(500)
    expect(await storedKeys()).toBe(0)
    expect((await write({ n: 1 }, 'key-1')).statusCode).toBe(201)
  })

  it('asks for authentication and a valid body before it answers again', async () => {
    await write({ n: 1 }, 'key-1')
    const anonymous = await shell.inject({
      method: 'POST',
      url: '/writes',
      headers: { 'idempotency-key': 'key-1' },
      payload: { n: 1 },
    })
    expect(anonymous.statusCode).toBe(401)
  })

  it('stores the answer so that the database does not reveal it', async () => {
    await write({ n: 1, how: 'private' }, 'key-1')
    const { rows } = await owner.query('select body from idempotency_keys')
    expect(rows[0].body.toString('latin1')).not.toContain('private')
    expect((await write({ n: 1, how: 'private' }, 'key-1')).json()).toEqual({ note: 'private' })
  })

  it('stores a long answer in few bytes, and repeats it as it was', async () => {
    const how = `long${'é"'.repeat(1_000)}`
    const first = await write({ n: 1, how }, 'key-1')
    const second = await write({ n: 1, how }, 'key-1')
    expect([second.statusCode, second.body]).toEqual([first.statusCode, first.body])
    expect(first.json().note).toBe(how)
    const { rows } = await owner.query('select length(body) as bytes from idempotency_keys')
    expect(rows[0].bytes).toBeLessThan(500)
  })

  it('never stores a secret that is shown once, and leaves it out of a repetition', async () => {
    const first = await write({ n: 1, how: 'secret' }, 'key-1')
    expect(first.json()).toEqual({ name: 'robot', token: 'srk_very_secret' })
    const second = await write({ n: 1, how: 'secret' }, 'key-1')
    expect([second.statusCode, second.json()]).toEqual([201, { name: 'robot' }])
    expect(second.headers['idempotency-replayed']).toBe('true')
    const { rows } = await owner.query('select caller_id, key, body from idempotency_keys')
    const place = { table: 'idempotency_keys', column: 'body', row: [rows[0].caller_id, rows[0].key] }
    expect(test.deps.sealer.open(place, rows[0].body)).not.toContain('srk_')
    expect(await effects()).toEqual([1])
  })

  it('repeats the stored answer, also after later changes, and reads no data again', async () => {
    const first = await inject('/reads', '{"n":1}', 'key-1', person)
    expect([first.statusCode, first.json()]).toEqual([200, { reads: 1 }])
    expect((await inject('/reads', '{"n":1}', undefined, person)).json()).toEqual({ reads: 2 })
    const again = await inject('/reads', '{"n":1}', 'key-1', person)
    expect([again.statusCode, again.json()]).toEqual([200, { reads: 1 }])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect((await inject('/reads', '{"n":2}', 'key-1', person)).statusCode).toBe(409)
    expect((await inject('/reads', '{"n":1}', 'key-1', other)).json()).toEqual({ reads: 3 })
    expect(reads).toBe(3)
  })

  it('runs work outside of a transaction once: the key is taken before it begins', async () => {
    const before = reads
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const isInside = new Promise<void>((resolve) => {
      entered = resolve
    })
    const first = inject('/reads', '{"n":1}', 'key-1', person)
    await isInside
    // One after the other: of two at once, the second is told that the key is in use, whatever it asks for.
    const same = await inject('/reads', '{"n":1}', 'key-1', person)
    const another = await inject('/reads', '{"n":2}', 'key-1', person)
    expect([same.statusCode, same.json().reason]).toEqual([409, 'idempotency_key_in_use'])
    expect(same.headers['retry-after']).toBe('1')
    expect([another.statusCode, another.json().reason]).toEqual([409, 'idempotency_key_reused'])
    release()
    expect((await first).json()).toEqual({ reads: before + 1 })
    expect((await inject('/reads', '{"n":1}', 'key-1', person)).json()).toEqual({ reads: before + 1 })
    expect(reads).toBe(before + 1)
  })

  it('gives the key back when such work fails, and after a while when its node died', async () => {
    expect((await inject('/reads', '{"n":1,"how":"break"}', 'key-1', person)).statusCode).toBe(500)
    expect(await storedKeys()).toBe(0)
    hold = new Promise(() => {})
    const isInside = new Promise<void>((resolve) => {
      entered = resolve
    })
    void inject('/reads', '{"n":1}', 'key-1', person)
    await isInside
    hold = Promise.resolve()
    const again = () => inject('/reads', '{"n":1}', 'key-1', person)
    test.clock.advance((runningMinutesMax - 1) * 60_000)
    const during = await again()
    expect([during.statusCode, during.json().reason]).toEqual([409, 'idempotency_key_in_use'])
    test.clock.advance(60_000)
    const answer = await again()
    expect([answer.statusCode, answer.headers['idempotency-replayed']]).toEqual([200, undefined])
    expect((await again()).body).toBe(answer.body)
  })

  it('stores the answer of the request that holds the key, not of a request that ran for too long', async () => {
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const isInside = new Promise<void>((resolve) => {
      entered = resolve
    })
    const send = () => inject('/reads', '{"n":1}', 'key-1', person)
    const slow = send()
    await isInside
    hold = Promise.resolve()
    test.clock.advance((runningMinutesMax + 1) * 60_000)
    const quick = await send()
    release()
    expect((await slow).statusCode).toBe(200)
    expect((await send()).body).toBe(quick.body)
  })

  it('of an unknown sender belongs to the content that they sent', async () => {
    const send = (n: number) =>
      shell.inject({ method: 'POST', url: '/public-writes', headers: { 'idempotency-key': 'key-1' }, payload: { n } })
    const first = await send(1)
    expect(first.json()).toEqual({ n: 1, token: 'a session' })
    const again = await send(1)
    expect(again.json()).toEqual({ n: 1 })
    expect(again.headers['idempotency-replayed']).toBe('true')
    // Another sender with the same key neither reads that answer nor is denied an answer.
    expect((await send(2)).json()).toEqual({ n: 2, token: 'a session' })
    expect(await effects()).toEqual([1, 2])
  })

  it('is kept for 24 hours and then forgotten', async () => {
    await write({ n: 1 }, 'key-1')
    test.clock.advance(23 * hour)
    await deleteExpiredRows(test.deps)
    expect(await storedKeys()).toBe(1)
    test.clock.advance(2 * hour)
    await deleteExpiredRows(test.deps)
    expect(await storedKeys()).toBe(0)
    test.clock.advance(-25 * hour)
  })

  it.each(['', ' ', 'a b', 'ä', 'x'.repeat(256), 'tab\there'])('refuses the key %j', async (key) => {
    const answer = await write({ n: 1 }, key)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details[0].field).toBe('Idempotency-Key')
    expect(await effects()).toEqual([])
  })

  it('takes a key of 255 visible characters', async () => {
    expect((await write({ n: 1 }, '~'.repeat(255))).statusCode).toBe(201)
  })
})

function addTestRoutes(app: App): void {
  addMoreRoutes(app)
  const spec = {
    summary: 'Test',
    tag: 'Test',
    access: 'caller',
    scope: 'operate',
    body: Write,
    answers: { 201: Type.Object({}) },
  } as const
  for (const url of ['/writes', '/other-writes']) {
    app.post(url, route({ ...spec, operationId: url }), (request, reply) =>
      mutate(test.deps, request, reply, async (trx) => {
        const { n, how } = request.body
        await trx
          .insertInto('effects' as never)
          .values({ n } as never)
          .execute()
        entered()
        await hold
        if (how === 'no content') return { status: 204 }
        if (how === 'refuse') return { refusal: forbidden('blocked_by_policy', 'Blocked by policy') }
        if (how === 'fail') throw conflict('wrong_state', 'Not now')
        if (how === 'break') throw new Error('broken')
        if (how === 'secret') return { ...created({ name: 'robot', token: 'srk_very_secret' }), secrets: ['token'] }
        if (how?.startsWith('long')) return created({ note: how })
        return created(how === 'private' ? { note: 'private' } : { n })
      }),
    )
  }
}

function addMoreRoutes(app: App): void {
  const spec = { summary: 'Test', tag: 'Test', body: Write, answers: { 200: Type.Object({}) } } as const
  app.post('/reads', route({ ...spec, operationId: 'reads', access: 'caller', scope: 'read' }), (request, reply) =>
    answerOnce(test.deps, request, reply, async () => {
      reads += 1
      entered()
      await hold
      if (request.body.how === 'break') throw new Error('broken')
      return ok({ reads })
    }),
  )
  app.post('/public-writes', route({ ...spec, operationId: 'publicWrites', access: 'public' }), (request, reply) =>
    mutate(test.deps, request, reply, async (trx) => {
      const { n } = request.body
      await trx
        .insertInto('effects' as never)
        .values({ n } as never)
        .execute()
      return { ...ok({ n, token: 'a session' }), secrets: ['token'] }
    }),
  )
}

function write(body: { n: number; how?: string }, key?: string, who: Person = person) {
  return inject('/writes', JSON.stringify(body), key, who)
}

function inject(url: string, payload: string, key: string | undefined, who: Person) {
  return shell.inject({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${who.token}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    payload,
  })
}

async function effects(): Promise<number[]> {
  const { rows } = await owner.query('select n from effects order by n')
  return rows.map((row) => row.n)
}

async function storedKeys(): Promise<number> {
  const { rows } = await owner.query('select count(*)::integer as count from idempotency_keys')
  return rows[0].count
}
