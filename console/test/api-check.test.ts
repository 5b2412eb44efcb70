import { expect, it } from 'vitest'
import { apiCheck } from './support/api-check.ts'

const check = apiCheck()
const base = 'http://localhost/api/v1/vaults/treasury'
const json = { 'content-type': 'application/json' }

function sent(method: string, url: string, body?: object) {
  return check.faultsOfRequest({
    ...{ method, url, headers: body === undefined ? {} : json },
    body: body === undefined ? null : JSON.stringify(body),
  })
}

it('a call as in openapi.json passes', () => {
  expect(sent('GET', `${base}/history?status=pending&status=failed&limit=20&awaitingMyApproval=true`)).toEqual([])
  expect(sent('POST', `${base}/holds`, { subjectType: 'address', subjectId: 'a'.repeat(25), reason: 'Leak' })).toEqual(
    [],
  )
})

it.each([
  ['GET', `${base}/nothing`, undefined, 'is not in openapi.json'],
  ['DELETE', `${base}/history`, undefined, 'is not in openapi.json'],
  ['GET', `${base}/history?colour=red`, undefined, 'colour is not a query parameter'],
  ['GET', `${base}/history?limit=many`, undefined, 'querystring: limit'],
  ['GET', `${base}/rules/versions/many`, undefined, 'params: number'],
  ['POST', `${base}/holds`, undefined, 'it has no body'],
  ['POST', `${base}/holds`, { subjectType: 'address', reason: 'Leak' }, 'body: subjectId is required'],
  ['POST', `${base}/holds`, { subjectType: 'house', subjectId: 'a', reason: 'Leak' }, 'body: subjectType'],
])('a call that is not so is named: %s %s %j', (method, url, body, fault) => {
  expect(sent(method, url, body)).toContainEqual(expect.stringContaining(fault))
})

it('a body of another type, and a header that has another form, are named', () => {
  const body = JSON.stringify({ reason: 'Leak' })
  const as = (headers: Record<string, string>) =>
    check.faultsOfRequest({ method: 'POST', url: `${base}/holds`, headers, body }).join()
  expect(as({ 'content-type': 'text/plain' })).toContain('its body is text/plain')
  expect(as({ ...json, 'idempotency-key': 'with a space' })).toContain('headers: idempotency-key')
})

it('an answer that openapi.json does not describe is named', () => {
  const answered = (status: number, body: object | null, headers: Record<string, string> = json) =>
    check
      .faultsOfAnswer(
        { method: 'GET', url: `${base}/holds` },
        { status, headers, body: body === null ? null : JSON.stringify(body) },
      )
      .join()
  expect(answered(200, { items: [], nextCursor: null })).toBe('')
  expect(answered(200, { items: [], nextCursor: null, more: 1 })).toContain('with a body that does not fit')
  expect(answered(201, { items: [] })).toContain('does not document')
  expect(answered(200, null, { 'content-type': 'text/html' })).toContain('as text/html')
  expect(answered(502, null, { 'content-type': 'text/html' })).toContain('without a reason')
})
