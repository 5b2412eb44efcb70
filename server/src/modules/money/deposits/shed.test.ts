import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'

vi.mock('../../../lib/limits.ts', async (original) => ({ ...(await original<object>()), eventsWaitingMax: 0 }))

let test: TestApp
let origin: string

beforeAll(async () => {
  test = await createTestApp()
  origin = await test.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => test.close())

const send = (body: string, path = '/webhooks/wallet') =>
  fetch(`${origin}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

it('refuses requests when the queue is full, before it reads their bodies', async () => {
  const warned = vi.spyOn(test.deps.log, 'warn')
  const responses = await Promise.all(Array.from({ length: 5 }, () => send('no JSON at all')))
  for (const response of responses) {
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.json()).toEqual({
      error: 'Service Unavailable',
      code: 503,
      reason: 'overloaded',
      message: 'Too many requests are waiting; try again later',
      requestId: response.headers.get('x-request-id'),
    })
  }
  expect(warned).toHaveBeenCalledTimes(1)
  const ids = responses.map(({ headers }) => headers.get('x-request-id'))
  expect(warned.mock.calls[0]).toEqual([
    { path: '/webhooks/wallet', refused: 1, status: 503, requestId: expect.toBeOneOf(ids) },
    'requests were refused',
  ])
  warned.mockRestore()
})

it('serves other requests on the same connections', async () => {
  expect((await send('x'.repeat(100_000))).status).toBe(503)
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  expect((await send('{}', '/webhooks/other')).status).toBe(404)
})
