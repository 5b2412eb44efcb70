import { readFileSync } from 'node:fs'
import type { SharedDocument } from '../../../server/src/http/openapi-components.ts'
import type { OpenApiDocument } from '../../../server/src/http/openapi-document.ts'
import { createValidatorCompiler, ValidationError } from '../../../server/src/http/validation.ts'
import { createAnswerCheck, toNamedRefs } from '../../../server/src/testing/answer-check.ts'
import { operationFinder, withoutReferences } from '../../../server/src/testing/described-api.ts'

export type Sent = { method: string; url: string; headers: Record<string, string>; body: string | null }
export type Answered = { status: number; headers: Record<string, string>; body: string | null }
/** Both return the faults, one per line. */
export type ApiCheck = {
  faultsOfRequest(sent: Sent): string[]
  faultsOfAnswer(sent: Pick<Sent, 'method' | 'url'>, answered: Answered): string[]
}

type HttpPart = 'params' | 'querystring' | 'headers' | 'body'
const places = { path: 'params', query: 'querystring', header: 'headers' } as const

let check: ApiCheck | null = null

/** Compares the requests and answers of pages with `openapi.json`. */
export function apiCheck(): ApiCheck {
  const file = new URL('../../../openapi.json', import.meta.url)
  check ??= createApiCheck(withoutReferences(JSON.parse(readFileSync(file, 'utf8')) as SharedDocument))
  return check
}

export function createApiCheck(document: OpenApiDocument): ApiCheck {
  const find = operationFinder(document)
  const faultsOf = validatorOf(document)
  const checkAnswer = createAnswerCheck(document)
  return {
    faultsOfRequest({ method, url, headers, body }) {
      const { pathname, searchParams } = new URL(url)
      const found = find(method, pathname)
      if (found === undefined) return [`${method} ${pathname} is not in openapi.json`]
      const label = `${method} ${found.url}`
      const bodies = found.operation.requestBody?.content
      const type = mediaTypeOf(headers)
      const faults = [
        ...faultsOf(label, 'params', segmentsOf(found.url, pathname)),
        ...faultsOf(label, 'querystring', parametersOf(searchParams)),
        ...faultsOf(label, 'headers', headers),
      ]
      if (body === null) {
        if (found.operation.requestBody?.required === true) faults.push('it has no body')
      } else if (bodies?.[type] === undefined) faults.push(`its body is ${type === '' ? 'of no type' : type}`)
      else if (type === 'application/json') faults.push(...faultsOf(label, 'body', JSON.parse(body) as unknown))
      return faults.map((fault) => `${label} is sent, which openapi.json does not describe: ${fault}`)
    },
    faultsOfAnswer({ method, url }, { status, headers, body }) {
      const { pathname } = new URL(url)
      const label = `${method} ${pathname} answers ${status}`
      const type = mediaTypeOf(headers)
      if (type !== 'application/json' && status >= 400) return [`${label} without a reason, as ${type}`]
      const contents = find(method, pathname)?.operation.responses[status]?.content
      if (type !== 'application/json' && contents !== undefined)
        return contents[type] === undefined ? [`${label} as ${type}, which openapi.json does not describe`] : []
      try {
        checkAnswer(method, pathname, { status, headers, body: body === null ? null : JSON.parse(body) })
        return []
      } catch (fault) {
        return [fault instanceof Error ? fault.message : String(fault)]
      }
    },
  }
}

/** Validates a part of a request as the service does, with the schemas that the document has for it. */
function validatorOf(document: OpenApiDocument) {
  const schemas = Object.entries(document.components.schemas).map(([$id, schema]) => ({ ...toNamedRefs(schema), $id }))
  const compile = createValidatorCompiler(schemas)
  const validators = new Map<string, (value: unknown) => unknown>()
  for (const [url, operations] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      const label = `${method.toUpperCase()} ${url}`
      const add = (httpPart: HttpPart, schema: object) =>
        validators.set(
          `${label} ${httpPart}`,
          compile({ schema: toNamedRefs(schema) as Record<string, unknown>, httpPart, method, url }),
        )
      for (const [place, httpPart] of Object.entries(places)) {
        const placed = parameters.filter((parameter) => parameter.in === place) as (Named & { required?: boolean })[]
        add(httpPart, {
          type: 'object',
          properties: Object.fromEntries(placed.map(({ name, schema }) => [nameOf(name, httpPart), schema ?? {}])),
          required: placed.filter(({ required }) => required === true).map(({ name }) => nameOf(name, httpPart)),
          // Each request has headers that no operation names.
          additionalProperties: httpPart === 'headers',
        })
      }
      const body = requestBody?.content?.['application/json']?.schema
      if (body !== undefined) add('body', body)
    }
  }
  return (label: string, part: HttpPart, value: unknown): string[] => {
    const { error } = (validators.get(`${label} ${part}`)?.(value) ?? {}) as { error?: Error }
    if (error === undefined) return []
    if (!(error instanceof ValidationError)) return [`${part}: ${error.message}`]
    return error.faults.map(({ field, message }) => `${part}: ${field} ${message}`)
  }
}

type Named = { name: string; schema?: object }

/** Browsers send the names of headers in small letters. */
function nameOf(name: string, part: HttpPart): string {
  return part === 'headers' ? name.toLowerCase() : name
}

function mediaTypeOf(headers: Record<string, string>): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim()
}

function segmentsOf(url: string, pathname: string): Record<string, string> {
  const parts = pathname.split('/')
  const named = url.split('/').map((part, at) => [/^\{(.+)\}$/.exec(part)?.[1], parts[at]!] as const)
  return Object.fromEntries(
    named.flatMap(([name, text]) => (name === undefined ? [] : [[name, decodeURIComponent(text)]])),
  )
}

/** A parameter that is given more than once is a list, as the service reads it. */
function parametersOf(search: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const all = search.getAll(name)
      return [name, all.length === 1 ? all[0]! : all]
    }),
  )
}
