import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createTestApp, type TestApp } from '../../testing/app.ts'

vi.mock('../../lib/limits.ts', async (original) => ({ ...(await original<object>()), eventsWaitingMax: 0 }))

let test: TestApp

beforeAll(async () => {
  test = await createTestApp()
})
afterAll(() => test.close())

it('turns away who finds the queue full before it looks at what they sent', async () => {
  const response = await test.app.inject({
    method: 'POST',
    url: '/webhooks/wallet',
    headers: { 'content-type': 'application/json' },
    payload: 'no JSON at all',
  })
  expect(response.statusCode).toBe(503)
  expect(response.headers['retry-after']).toBe('1')
  expect(response.json()).toMatchObject({ error: 'Service Unavailable', code: 503 })
})
