import { expect, it } from 'vitest'
import { answerCheckOf } from './answer-check.ts'
import { createTestApp } from './app.ts'

it('answerCheckOf refuses an answer whose status, body or reason is not declared by its route', async () => {
  const test = await createTestApp()
  try {
    const check = answerCheckOf(test.app)
    const requestId = '4f1c5d0e-9a53-4a0e-8f0c-3f8c5f0b7a11'
    const error = (status: number, reason: string) => ({
      status,
      body: { error: 'Conflict', message: 'No', code: status, reason, requestId },
      headers: { 'x-request-id': requestId },
    })
    const order = ['POST', '/api/v1/vaults/treasury/transfers'] as const
    expect(() => check(...order, error(409, 'insufficient_funds'))).not.toThrow()
    expect(() => check(...order, error(409, 'already_voted'))).toThrow('does not declare')
    expect(() => check(...order, error(404, 'insufficient_funds'))).toThrow('insufficient_funds')
    expect(() => check(...order, { status: 302, body: {}, headers: {} })).toThrow('does not document')
    expect(() => check(...order, { status: 201, body: { id: 1 }, headers: {} })).toThrow('does not fit')
  } finally {
    await test.close()
  }
})
