import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { describedApiOf } from '../testing/described-api.ts'
import { insertVault } from '../testing/vault-fixture.ts'
import type { OpenApiDocument } from './openapi-document.ts'

const override = '\u202e'
const message = 'must not hold the invisible character U+202E'
/** Texts of the wallet service are compared with stored values or kept as raw evidence. They are not shown as names. */
const notForPeople = ['receiveWalletEvent']

let test: TestApp
let person: Person
let document: OpenApiDocument

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org', { isPlatformAdmin: true })
  await insertVault(test, 'main-vault', person)
  document = describedApiOf(test.app)
})
afterAll(() => test.close())

type Schema = {
  $ref?: string
  type?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
}

/** Returns the paths to all strings of a body except those with listed values; `*` stands for any key. */
function textsOf(schema: Schema, path: string[] = [], inside: string[] = []): string[][] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!
    return inside.includes(name)
      ? []
      : textsOf(document.components.schemas[name] as unknown as Schema, path, [...inside, name])
  }
  if (schema.type === 'string' && schema.enum === undefined && schema.const === undefined) return [path]
  const free = [...Object.values(schema.patternProperties ?? {}), schema.additionalProperties]
  return [
    ...(schema.anyOf ?? []).flatMap((alternative) => textsOf(alternative, path, inside)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      textsOf(property, [...path, name], inside),
    ),
    ...(schema.items === undefined ? [] : textsOf(schema.items, [...path, '0'], inside)),
    ...free.flatMap((valueSchema) =>
      typeof valueSchema === 'object' ? textsOf(valueSchema, [...path, '*'], inside) : [],
    ),
  ]
}

/** Returns the body with the value in one place replaced by a text. */
function put(body: unknown, [step, ...rest]: string[], text: string): unknown {
  if (step === undefined) return text
  if (step === '0') return [put(Array.isArray(body) ? body[0] : undefined, rest, text)]
  const object = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return { ...object, [step]: put(object[step], rest, text) }
}

describe('T71 every text of every request', () => {
  it('refuses a character that overrides the direction of writing, and names its field', async () => {
    const accepted: string[] = []
    let texts = 0
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const media = operation.requestBody?.content?.['application/json']
        if (media?.schema === undefined || notForPeople.includes(operation.operationId!)) continue
        const examples = new Map(operation.parameters?.map(({ name, example }) => [name, String(example)]))
        const url = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => examples.get(name) ?? name)
        for (const place of textsOf(media.schema as unknown as Schema)) {
          texts += 1
          const response = await test.app.inject({
            method: method.toUpperCase() as 'POST',
            url,
            headers: { authorization: `Bearer ${person.token}` },
            payload: put(media.example, place, `a${override}b`) as object,
          })
          const details = (response.json().details ?? []) as { field: string; message: string }[]
          const isNamed = details.some((fault) => fault.field === place.join('.') && fault.message === message)
          if (response.statusCode !== 400 || !isNamed) accepted.push(`${operation.operationId} ${place.join('.')}`)
        }
      }
    }
    expect(accepted).toEqual([])
    expect(texts).toBeGreaterThan(150)
  })

  it('refuses the character in parts without a schema: the values of a category and the payload of a step', async () => {
    const values = await person.put(
      '/vaults/main-vault/operations/transfer/cmi8h2k1p0a1b2c3d4e5f6g7h/categories/cmi8h2k1p0a1b2c3d4e5f6g7h',
      { values: { cost_center: `cc${override}100` } },
    )
    expect(values.body.details).toEqual([{ field: 'values.cost_center', message }])
    const payload = { name: `Exchange${override}`, kind: 'exchange' }
    const steps = await person.post('/vaults/main-vault/approval-requests/composite', {
      steps: [{ action: 'counterparty_create', payload }],
    })
    expect(steps.body.details).toEqual([{ field: 'steps.0.payload.name', message }])
  })
})
