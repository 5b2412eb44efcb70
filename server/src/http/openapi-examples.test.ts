import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseTimestamp } from '../lib/period.ts'
import { reasons } from '../lib/reasons.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { describedApiOf } from '../testing/described-api.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { scimType } from './scim-form.ts'

let test: TestApp
let document: OpenApiDocument
let person: Person

beforeAll(async () => {
  test = await createTestApp({ WALLET_ALLOWED_HOSTS: 'wallet.example.org' })
  document = describedApiOf(test.app)
  person = await test.signIn('treasurer@example.org', { isPlatformAdmin: true })
  // The other examples name a vault, a token, and a category with a field.
  for (const id of ['createVault', 'createToken']) {
    const { method, url, operation } = operationsOf(document).find(({ operation }) => operation.operationId === id)!
    const { status } = await send(method, url, operation.requestBody?.content?.['application/json']?.example as object)
    expect(status).toBe(201)
  }
  const { body } = await person.post('/vaults/main-vault/operation-categories', { key: 'payroll', name: 'Payroll' })
  const field = { key: 'cost_center', label: 'Cost center', type: 'text' }
  expect((await person.post(`/vaults/main-vault/operation-categories/${body.id}/fields`, field)).status).toBe(201)
})
afterAll(() => test.close())

/** Parameters that are not sent: those that exclude others, and cursors, which are valid for one list of one service only. */
const excluded = new Set([
  'cursor',
  'listChanges after',
  'reportAddressActivity folderId',
  'listHistory awaitingMyApproval',
])

/** A GET takes no body. */
const send = (method: 'get' | 'post' | 'patch' | 'put' | 'delete', url: string, body?: object) =>
  method === 'get' ? person.get(url) : person[method](url, body)

describe('the examples of openapi.json', () => {
  it('fit their schemas: of every parameter, request and successful answer', () => {
    const check = createCheck()
    for (const { label, operation } of operationsOf(document)) {
      for (const parameter of operation.parameters ?? []) check.fit(`${label} ${parameter.name}`, parameter)
      for (const media of Object.values(operation.requestBody?.content ?? {})) check.fit(`${label} request`, media)
      for (const [status, response] of Object.entries(operation.responses)) {
        if (!status.startsWith('2')) continue
        for (const media of Object.values(response.content ?? {})) check.fit(`${label} ${status}`, media)
      }
    }
    expect(check.faults).toEqual([])
  })

  it('have the status of the error that they show, one example for each reason', () => {
    const check = createCheck()
    const examples = document.components.examples ?? {}
    for (const [reason, { value }] of Object.entries(examples)) {
      check.fit(reason, { schema: { $ref: '#/components/schemas/Error' }, example: value })
      expect(value).toMatchObject({ reason, code: reasons[value.reason] })
    }
    expect(check.faults).toEqual([])
    for (const { label, operation } of operationsOf(document)) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue
        if (operation['x-access'] === 'directory') {
          expect(content?.[scimType]?.example, `${label} ${status}`).toMatchObject({ status })
          continue
        }
        const named = Object.entries(content?.['application/json']?.examples ?? {})
        expect(named.length, `${label} ${status} has no example`).toBeGreaterThan(0)
        for (const [reason, { $ref }] of named) {
          expect($ref).toBe(`#/components/examples/${reason}`)
          expect(examples[reason]?.value.code, `${label} ${status} ${reason}`).toBe(Number(status))
        }
      }
    }
  })

  it('can be sent as they are: no request is refused for its shape', async () => {
    const refused: string[] = []
    for (const { label, method, url, operation } of operationsOf(document)) {
      if (operation.security === undefined || operation.operationId === 'signOut') continue
      const { parameters = [], requestBody } = operation
      const examplesIn = (place: string) =>
        parameters.filter((parameter) => parameter.in === place).map(({ name, example }) => ({ name, value: example }))
      const path = examplesIn('path').reduce(
        (filled, { name, value }) => filled.replace(`{${name}}`, encodeURIComponent(String(value))),
        url,
      )
      const query = new URLSearchParams(
        examplesIn('query')
          .filter(({ name }) => !excluded.has(name) && !excluded.has(`${operation.operationId} ${name}`))
          .flatMap(({ name, value }) => [value].flat().map((entry): [string, string] => [name, String(entry)])),
      )
      const body = requestBody?.content?.['application/json']?.example as object | undefined
      const answer = await send(method, `${path}?${query}`, body)
      if (answer.status === 400) refused.push(`${label}: ${JSON.stringify(answer.body.details ?? answer.body.message)}`)
    }
    expect(refused).toEqual([])
  })
})

function createCheck() {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    formats: { 'date-time': (at: string) => parseTimestamp(at) !== null, binary: true },
  })
  ajv.addSchema({ $id: 'openapi', components: document.components })
  const faults: string[] = []
  const fit = (label: string, holder: { schema?: object; example?: unknown }) => {
    if (holder.schema === undefined) return
    if (holder.example === undefined) return faults.push(`${label}: no example`)
    const validate = ajv.compile(
      JSON.parse(JSON.stringify(holder.schema).replaceAll('"#/components/', '"openapi#/components/')) as object,
    )
    if (!validate(holder.example)) faults.push(`${label}: ${ajv.errorsText(validate.errors)}`)
  }
  return { faults, fit }
}

function operationsOf({ paths }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([url, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      label: `${method.toUpperCase()} ${url}`,
      method: method as 'get' | 'post' | 'patch' | 'put' | 'delete',
      url: url.startsWith('/api/v1/') ? url.slice('/api/v1'.length) : `/${url}`,
      operation,
    })),
  )
}
