import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../app.ts'
import { openDatabase } from '../db/client.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'

let test: TestApp
beforeAll(async () => {
  test = await createTestApp()
})
afterAll(() => test.close())

describe('health', () => {
  it('reports that the process is up and the database answers', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await test.anonymous.get('//healthz')).toMatchObject({ status: 200, body: { status: 'ok', version } })
    const { body: metrics } = await test.anonymous.get('//metrics')
    expect(metrics).toContain(`strongroom_build_info{version="${version}",commit=""} 1`)
    expect(await test.anonymous.get('//readyz')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })

  it('reports whether the node is notified of the commits of other nodes', async () => {
    const app = await createApp(test.deps)
    const changes = async () => (await app.inject('/readyz')).json().changes
    expect(await changes()).toBe('polled')
    const stop = test.deps.changeSignal.onWake('test', () => {})
    await expect.poll(changes).toBe('heard')
    stop()
    expect(await changes()).toBe('polled')
    await app.close()
  })

  it('stays up but is not ready when the database is gone', async () => {
    const { db } = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/none', onError: () => {} })
    const app = await createApp({ ...test.deps, db })
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    const answer = await app.inject('/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('2')
    expect(answer.json()).toMatchObject({ error: 'Service Unavailable', code: 503, requestId: expect.any(String) })
    await app.close()
    await db.destroy()
  })

  it('T54 is not ready when the database does not answer within a second', async () => {
    const { db, pool } = openDatabase({ url: test.databaseUrl, connectionsMax: 1, onError: () => {} })
    const busy = await pool.connect()
    const app = await createApp({ ...test.deps, db })
    const startedAt = performance.now()
    expect((await app.inject('/readyz')).statusCode).toBe(503)
    expect(performance.now() - startedAt).toBeLessThan(2_500)
    busy.release()
    await app.close()
    await db.destroy()
  })

  it('logs one line for many requests while the database cannot be reached, and none for probes that succeed', async () => {
    const lines: { msg: string; route?: string; err?: unknown }[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const { db } = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/none', onError: () => {} })
    const app = await createApp({ ...test.deps, db, log })
    const { token } = await test.signIn('reader@example.org')
    const headers = { authorization: `Bearer ${token}` }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.inject({ url: '/api/v1/users/me', headers })),
    )
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([503]))
    expect(lines.filter(({ err }) => err !== undefined).map(({ msg }) => msg)).toEqual([
      'requests are answered 503 for want of the database',
    ])
    for (let i = 0; i < 5; i += 1) expect((await app.inject('/readyz')).statusCode).toBe(503)
    expect(lines.filter(({ msg }) => msg === 'not ready')).toHaveLength(1)
    await app.inject('/healthz')
    expect(lines.filter(({ route }) => route === '/healthz')).toEqual([])
    await app.close()
    await db.destroy()
  })

  it('is exempt from the rate limit', async () => {
    const config = { ...test.deps.config, rateLimitPerMinute: 1 }
    const app = await createApp({ ...test.deps, config })
    for (const url of ['/healthz', '/readyz', '/metrics', '/healthz', '/readyz', '/metrics']) {
      expect((await app.inject(url)).statusCode).toBe(200)
    }
    await app.close()
  })
})

describe('metrics', () => {
  it('measures requests by method, route pattern and status, and the process', async () => {
    await test.anonymous.get('/vaults/one/audit-log')
    await test.anonymous.get('/vaults/two/audit-log')
    await test.anonymous.get('/nowhere/1')
    await test.anonymous.get('/nowhere/2')
    const { status, body, headers } = await test.anonymous.get('//metrics')
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(body).toContain('process_cpu_seconds_total')
    expect(body).toContain(
      'http_request_duration_seconds_count{method="GET",route="/api/v1/vaults/:code/audit-log",status="401"} 2',
    )
    expect(body).toContain('http_request_duration_seconds_count{method="GET",route="none",status="404"} 2')
    expect(body).not.toContain('nowhere')
  })

  it.each([
    ['in demo mode', { demo: true, metricsToken: null }, undefined, 200],
    ['outside demo mode without a token', { demo: false, metricsToken: null }, undefined, 404],
    [
      'outside demo mode without a configured token, for any credential',
      { demo: false, metricsToken: null },
      'Bearer null',
      404,
    ],
    [
      'with a token, shown',
      { demo: false, metricsToken: 'a token of the scraper' },
      'Bearer a token of the scraper',
      200,
    ],
    ['with a token, not shown', { demo: false, metricsToken: 'a token of the scraper' }, undefined, 401],
    ['with a token, another shown', { demo: true, metricsToken: 'a token of the scraper' }, 'Bearer another', 401],
  ])('T70 %s are shown only to people who may read them', async (_when, settings, authorization, status) => {
    const app = await createApp({ ...test.deps, config: { ...test.deps.config, ...settings } })
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await app.inject({ url: '/metrics', headers })
    expect(answer.statusCode).toBe(status)
    expect(answer.body.includes('process_cpu_seconds_total')).toBe(status === 200)
    await app.close()
  })

  it('belong to one app: the metrics of two apps in a process do not mix', async () => {
    const app = await createApp(test.deps)
    expect((await app.inject('/metrics')).body).not.toContain('audit-log')
    await app.close()
  })
})
