import swagger from '@fastify/swagger'
import { thisVersion } from '../config/version.ts'
import { faultsListedMax, faultyValuesMax, idempotencyKeyLengthMax } from '../lib/limits.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import { confirmationHeader } from './confirmation.ts'
import type { App } from './endpoints.ts'
import { exampleOfError, shellReasons } from './error-examples.ts'
import { shareComponents } from './openapi-components.ts'
import type { JsonSchema, Media, OpenApiDocument, Operation, Parameter } from './openapi-document.ts'
import { route } from './route.ts'
import { scimType } from './scim-form.ts'
import { tags } from './tags.ts'

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes retries safe: for 24 hours the same key and request return the same answer, without secrets that are shown once.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: idempotencyKeyLengthMax,
    pattern: '^[\\x21-\\x7e]+$',
    examples: ['4f1c5d0e-9a53-4a0e-8f0c-3f8c5f0b7a11'],
  },
}

const confirmation: Parameter = {
  name: confirmationHeader,
  in: 'header',
  description:
    'Passkey confirmation of this request: the JSON of a `PasskeyAssertion` in base64url, made with the options of ' +
    '`prepareConfirmation`. A request that needs the header and does not have it is refused with 403 `passkey_required`.',
  schema: {
    type: 'string',
    minLength: 1,
    pattern: '^[A-Za-z0-9_-]+$',
    examples: ['eyJpZCI6IkFRSURCQVVHQndnSkNnc01EUTRQRUEifQ'],
  },
}

const meanings: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted: it waits for approval, or is done in the background',
  204: 'Done; no content',
  302: 'Redirect',
  400: 'The request is not valid; details name the fields',
  401: 'No valid token or session',
  403: 'Not permitted',
  404: 'Not found, or not visible to the caller',
  409: 'In conflict with the current state',
  412: 'If-Match names another version',
  413: 'The body is too large',
  415: 'The content type is not application/json',
  429: 'Too many requests; Retry-After tells when to try again',
  500: 'Unexpected error; requestId finds it in the log',
  502: 'The wallet service failed',
  503: 'Not available right now; Retry-After tells when to try again',
}

/** Collects the routes into OpenAPI 3.1 and serves the document at /openapi.json. The console shows it at /docs. */
export async function registerOpenApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Strongroom',
        version: thisVersion.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Custody vault service: ledger, policies, approvals and record. Amounts are strings; lists are ' +
          `paged by \`cursor\`; every write accepts \`Idempotency-Key\`, except the webhook. Text holds no ` +
          'control, zero-width or bidirectional character (emoji keep theirs), and line breaks only in ' +
          'comments, descriptions, notes, payment purposes, reasons and help texts. A 400 lists up to ' +
          `${faultsListedMax} faults, and possibly not all of them for a request of more than ${faultyValuesMax} ` +
          'values. The document itself is at `/openapi.json`.',
      },
      tags,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A session token or a service token (`srk_…`).' },
          directory: { type: 'http', scheme: 'bearer', description: 'The token of a directory (`srd_…`).' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'session_token',
            description: 'The session of the web console.',
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
    transformObject: (document) => {
      const { openapiObject } = document as unknown as { openapiObject: OpenApiDocument }
      return shareComponents(complete(openapiObject), meanings) as never
    },
  })
  let text: string | undefined
  app.get(
    '/openapi.json',
    {
      ...route({
        operationId: 'getOpenApi',
        summary: 'Get the OpenAPI document',
        description: 'This document, in OpenAPI 3.1.',
        tag: 'Service',
        access: 'public',
        answers: { 200: { type: 'object', additionalProperties: true, examples: [{ openapi: '3.1.0' }] } },
      }),
    },
    async (_request, reply) => {
      text ??= openApiText(app)
      return reply.type('application/json; charset=utf-8').send(text)
    },
  )
}

/** Returns the document as it is committed and served. It is indented, so that a diff shows a change line by line. */
export function openApiText(app: App): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`
}

/** Adds parts that routes do not declare: examples, descriptions of statuses, and the header of repeatable writes. */
function complete(document: OpenApiDocument): OpenApiDocument {
  replacePublished(document)
  const components = document.components.schemas
  const used = new Set<Reason>()
  const operations = Object.values(document.paths).flatMap((path) => Object.entries(path))
  for (const [method, operation] of operations) {
    addUploads(operation)
    if (operation['x-access'] === 'directory') useScimType(operation)
    if (operation['x-confirmed'] === true) {
      operation.parameters = [...(operation.parameters ?? []), structuredClone(confirmation)]
      delete operation['x-confirmed']
    }
    if (takesKey(method, operation)) {
      operation.parameters = [...(operation.parameters ?? []), structuredClone(idempotencyKey)]
    }
    for (const status of shellErrors(method, operation)) {
      operation.responses[status] ??= {
        description: meanings[status] ?? 'Error',
        content:
          operation['x-access'] === 'directory'
            ? { [scimType]: { schema: { $ref: '#/components/schemas/ScimError' }, example: scimErrorOf(status) } }
            : { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      }
    }
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema !== undefined) parameter.example ??= exampleOf(parameter.schema, components)
    }
    addMediaExamples(operation.requestBody?.content, components)
    // The example asks for the first page, because a cursor is valid for one list of one service only.
    for (const { example } of Object.values(operation.requestBody?.content ?? {})) {
      if (typeof example === 'object') delete (example as { cursor?: string }).cursor
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      if (response.description === undefined || response.description === 'Default Response')
        response.description = meanings[status] ?? 'Error'
      if (status.startsWith('2')) addMediaExamples(response.content, components)
    }
    for (const reason of addErrorExamples(method, operation)) used.add(reason)
  }
  document.components.examples = Object.fromEntries([...used].sort().map((reason) => [reason, exampleOfError(reason)]))
  return document
}

const scimErrorOf = (status: string) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status,
  detail: meanings[status] ?? 'Error',
})

/** Directories send and read JSON under the media type of SCIM. Their requests may also name JSON. */
function useScimType({ requestBody, responses }: Operation): void {
  const json = 'application/json'
  if (requestBody?.content?.[json] !== undefined)
    requestBody.content = { [scimType]: requestBody.content[json], ...requestBody.content }
  for (const [status, response] of Object.entries(responses)) {
    const media = response.content?.[json]
    if (media === undefined) continue
    response.content = { [scimType]: Number(status) < 400 ? media : { ...media, example: scimErrorOf(status) } }
  }
}

/** Replaces every part that names its component (`published`) with a reference. */
function replacePublished(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  for (const [key, part] of Object.entries(node)) {
    const component = (part as { 'x-published'?: string } | null)?.['x-published']
    if (component !== undefined) Object.assign(node, { [key]: { $ref: `#/components/schemas/${component}` } })
    else replacePublished(part)
  }
}

/** Adds an example for each reason for which the operation can refuse. Returns the reasons. */
function addErrorExamples(method: string, operation: Operation): Reason[] {
  const declared = operation['x-reasons'] ?? []
  const possible = [...new Set([...declared, ...shellReasons(method, operation, takesKey(method, operation))])]
  delete operation['x-reasons']
  const named: Reason[] = []
  for (const [status, { content }] of Object.entries(operation.responses)) {
    const media = content?.['application/json']
    if (Number(status) < 400 || media === undefined) continue
    const fitting = possible.filter((reason) => String(reasons[reason]) === status)
    const examples = fitting.length > 0 ? fitting : [usualReasons[status]].filter((reason) => reason !== undefined)
    media.examples = Object.fromEntries(examples.map((reason) => [reason, { $ref: `#/components/examples/${reason}` }]))
    named.push(...examples)
  }
  return named
}

/** Describes the uploads: text as text, every other type as bytes. */
function addUploads(operation: Operation): void {
  const { 'x-uploads': uploads = {} } = operation
  delete operation['x-uploads']
  for (const [mediaType, example] of Object.entries(uploads)) {
    const isText = mediaType.startsWith('text/')
    operation.requestBody ??= { required: true }
    operation.requestBody.content ??= {}
    operation.requestBody.content[mediaType] = {
      schema: { type: 'string', ...(isText ? {} : { format: 'binary' }), examples: [example] },
    }
  }
}

/** The reason of an error for routes that declare only its status. */
const usualReasons: Record<string, Reason> = { 401: 'invalid_token', 404: 'not_found' }

/** Returns the errors of the HTTP shell itself: a foreign origin, a key that was used before, a body that it cannot read. */
function shellErrors(method: string, operation: Operation): string[] {
  return [
    ...(operation.security !== undefined && operation['x-access'] !== 'directory' && method !== 'get' ? ['403'] : []),
    ...(takesKey(method, operation) ? ['409'] : []),
    ...(operation.requestBody === undefined ? [] : ['413', '415']),
  ]
}

/** Returns true if the operation takes the header. The webhook does not take it: a repeated event changes nothing anyway. */
function takesKey(method: string, { operationId = '' }: Operation): boolean {
  return method !== 'get' && operationId !== 'receiveWalletEvent'
}

function addMediaExamples(content: Media | undefined, components: Record<string, JsonSchema>): void {
  for (const media of Object.values(content ?? {})) {
    if (media.schema !== undefined && media.example === undefined) media.example = exampleOf(media.schema, components)
  }
}

/** The depth at which an example stops, because a component may contain itself. */
const depthMax = 24

/**
 * Returns an example of a schema: its own `examples`, `const`, `enum` or `default`, or else an example made of its parts,
 * including optional ones. `components` are the schemas to which `#/components/schemas/<Name>` refers.
 */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>, depth = 0): unknown {
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if ('default' in schema) return schema.default
  if (depth > depthMax) return null
  if (schema.$ref !== undefined) return exampleOf(resolve(schema.$ref, components), components, depth + 1)
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, components, depth + 1)))
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) {
    const telling = choices.find((choice) => choice.type !== 'null') ?? {}
    return exampleOf(telling, components, depth + 1)
  }
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type
  if (type === 'object' || schema.properties !== undefined) return exampleOfObject(schema, components, depth)
  if (type === 'array') return exampleOfArray(schema, components, depth)
  if (type === 'string') return exampleOfString(schema)
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  return null
}

function resolve(ref: string, components: Record<string, JsonSchema>): JsonSchema {
  const name = ref.replace('#/components/schemas/', '')
  const found = components[name]
  if (found === undefined) throw new Error(`There is no schema component ${name}`)
  return found
}

function exampleOfObject(schema: JsonSchema, components: Record<string, JsonSchema>, depth: number): unknown {
  const members = Object.entries(schema.properties ?? {})
  const example = Object.fromEntries(members.map(([name, part]) => [name, exampleOf(part, components, depth + 1)]))
  const free = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
  if (members.length === 0 && typeof free === 'object') return { key: exampleOf(free, components, depth + 1) }
  return example
}

function exampleOfArray(schema: JsonSchema, components: Record<string, JsonSchema>, depth: number): unknown[] {
  if (Array.isArray(schema.items)) return schema.items.map((item) => exampleOf(item, components, depth + 1))
  if (schema.items === undefined || schema.maxItems === 0) return []
  const item = exampleOf(schema.items, components, depth + 1)
  return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => item)
}

function exampleOfString(schema: JsonSchema): string {
  if (schema.format === 'date-time') return '2026-01-31T09:30:00.000Z'
  return 'text'.padEnd(schema.minLength ?? 0, 'x')
}
