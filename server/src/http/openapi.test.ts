import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeApi } from '../cli/describe-api.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { withoutReferences } from '../testing/described-api.ts'
import type { SharedDocument } from './openapi-components.ts'
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts'
import { scimType } from './scim-form.ts'

let test: TestApp
let text: string
let shared: SharedDocument
/** The same with every parameter and answer in its place. */
let document: OpenApiDocument

beforeAll(async () => {
  test = await createTestApp()
  text = await describeApi()
  shared = JSON.parse(text)
  document = withoutReferences(shared)
})
afterAll(() => test.close())

describe('openapi.json', () => {
  it('is committed as the service describes itself; `npm run openapi` writes it', async () => {
    const committed = await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8')
    expect(committed === text, 'openapi.json is stale').toBe(true)
  })

  it('is served as it is committed', async () => {
    const answer = await test.app.inject('/openapi.json')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe(text)
  })

  it('has the version of the package', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(JSON.parse(text).info.version).toBe(manifest.version)
  })

  it('is OpenAPI 3.1 and does not depend on the machine it was made on', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(text).not.toMatch(/localhost|127\.0\.0\.1/)
  })

  it('documents the callers of each operation, and the subject of each group of operations', () => {
    const operations = operationsOf(document)
    const named = new Set(shared.tags?.map(({ name }) => name))
    expect(operations.filter(({ operation }) => !named.has(operation.tags![0]!)).map(({ label }) => label)).toEqual([])
    const used = new Set(operations.map(({ operation }) => operation.tags![0]))
    expect(shared.tags?.filter(({ name, description }) => !used.has(name) || description === '')).toEqual([])
    const silent = operations.filter(
      ({ operation }) => (operation['x-access'] === 'public') !== (operation.security === undefined),
    )
    expect(silent.map(({ label }) => label)).toEqual([])
  })

  it('names each operation once, with summary, tag, security and errors', () => {
    const operations = operationsOf(document)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const incomplete = operations.filter(({ operation: { operationId, summary, tags, responses } }) => {
      const statuses = Object.keys(responses ?? {})
      return !operationId || !summary || tags?.length !== 1 || !statuses.includes('400') || !statuses.includes('500')
    })
    expect(incomplete.map(({ label }) => label)).toEqual([])
    const unguarded = operations.filter(
      ({ operation: { security, responses } }) => (security !== undefined) !== Object.hasOwn(responses ?? {}, '401'),
    )
    // A public operation may refuse a bad credential, as the redemption of a sign-in link does.
    expect(unguarded.filter(({ operation }) => operation.security !== undefined).map(({ label }) => label)).toEqual([])
  })

  it('describes every operation, parameter and property', () => {
    const { schemas } = shared.components
    const bare: string[] = []
    const describes = (schema: JsonSchema): boolean => {
      const found = schema.$ref === undefined ? schema : schemas[schema.$ref.replace('#/components/schemas/', '')]!
      return Boolean(found.description) || [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(describes)
    }
    const check = (label: string, schema: JsonSchema) => {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        if (!describes(property)) bare.push(`${label}.${name}`)
        check(`${label}.${name}`, property)
      }
      const { items, additionalProperties: rest, patternProperties, anyOf, oneOf, allOf } = schema
      const parts = [items, rest, ...Object.values(patternProperties ?? {}), anyOf, oneOf, allOf].flat()
      for (const part of parts) if (typeof part === 'object') check(label, part)
    }
    for (const [name, schema] of Object.entries(schemas)) check(name, schema)
    for (const { label, operation } of operationsOf(document)) {
      if (!operation.description) bare.push(label)
      for (const { name, description } of operation.parameters ?? []) if (!description) bare.push(`${label} ${name}`)
      const media = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
        Object.values(part?.content ?? {}),
      )
      for (const { schema } of media) check(label, schema ?? {})
    }
    expect(bare).toEqual([])
  })

  it('describes every answer', () => {
    const bare = operationsOf(document).flatMap(({ label, operation }) =>
      Object.entries(operation.responses ?? {})
        .filter(([, { description }]) => !description || description === 'Default Response')
        .map(([status]) => `${label} ${status}`),
    )
    expect(bare).toEqual([])
  })

  it('refers only to components that are there, and uses each', () => {
    const used = new Set([...text.matchAll(/"\$ref": "([^"]+)"/g)].map(([, ref]) => ref))
    const { schemas, parameters, responses, examples } = shared.components
    const known = new Set(
      Object.entries({ schemas, parameters, responses, examples }).flatMap(([kind, components]) =>
        Object.keys(components ?? {}).map((name) => `#/components/${kind}/${name}`),
      ),
    )
    expect([...used].filter((ref) => !known.has(ref!))).toEqual([])
    expect([...known].filter((ref) => !used.has(ref))).toEqual([])
  })

  it('contains shared components once', () => {
    const inline = Object.values(shared.paths).flatMap((path) =>
      Object.values(path).flatMap(({ operationId, parameters = [], responses }) => [
        ...parameters.filter((parameter) => !('$ref' in parameter)).map((parameter) => JSON.stringify(parameter)),
        ...Object.entries(responses)
          .filter(([status, response]) => status >= '4' && !('$ref' in response))
          .map(([status]) => `${operationId} ${status}`),
      ]),
    )
    const errors = inline.filter((entry) => !entry.startsWith('{'))
    expect(errors).toEqual([])
    expect(inline.filter((entry, index) => inline.indexOf(entry) !== index)).toEqual([])
  })

  it('documents the body of every error', () => {
    const bare = operationsOf(document).flatMap(({ label, operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => status >= '4')
        .filter(([, { content }]) =>
          operation['x-access'] === 'directory'
            ? content?.[scimType]?.schema?.$ref !== '#/components/schemas/ScimError'
            : content?.['application/json']?.schema?.$ref !== '#/components/schemas/Error',
        )
        .map(([status]) => `${label} ${status}`),
    )
    expect(bare).toEqual([])
  })

  it('describes every route except the pages for browsers and providers', () => {
    const page = /^(GET|POST) \/($|assets\/|docs|sign-in|auth\/oidc\/|changes\/)/
    const named = (route: string) => route.replace(/\{\w+\}|:\w+(\|:\w+)*/g, ':')
    const routes = routesOf(test.app.printRoutes({ commonPrefix: false })).filter((route) => !page.test(route))
    expect(routes.map(named).toSorted()).toEqual(
      operationsOf(document)
        .map(({ label }) => named(label))
        .toSorted(),
    )
  })
})

/** Returns the method and path of each route of the printed tree. */
function routesOf(printed: string): string[] {
  const parts: string[] = []
  return [...printed.matchAll(/^([│ ]*)[├└]── (\S*)(?: \((.+)\))?$/gm)].flatMap(([, indent, part, methods]) => {
    parts.splice(indent!.length / 4, parts.length, part!)
    const path = parts.join('').replace('//', '/')
    return (methods ?? '')
      .split(', ')
      .flatMap((method) => (method === '' || method === 'HEAD' ? [] : `${method} ${path}`))
  })
}

function operationsOf({ paths }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([url, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ label: `${method.toUpperCase()} ${url}`, operation })),
  )
}
