import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../testing/app.ts'

let test: TestApp
beforeAll(async () => {
  test = await createTestApp()
})
afterAll(() => test.close())

describe('the shell', () => {
  it('answers an unknown route with the specified body', async () => {
    const answer = await test.anonymous.get('/nowhere')
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({ error: 'Not Found', message: 'There is no such route', code: 404 })
  })
})
