import { createRequire } from 'node:module'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { faultsListedMax, faultyValuesMax, idempotencyKeyLengthMax } from '../lib/limits.ts'
import { exampleOf, type JsonSchema } from './examples.ts'
import { shareComponents } from './openapi-components.ts'
import { type App, route } from './route.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

type Media = Record<string, { schema?: JsonSchema; example?: unknown }>
export type Parameter = { name: string; in: string; description?: string; schema?: JsonSchema; example?: unknown }
export type Response = { description?: string; content?: Media }
export type Operation = {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { content?: Media }
  responses: Record<string, Response>
}
/** The document with every parameter and answer in its place, before `shareComponents`. */
export type OpenApiDocument = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

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
  413: 'The body is too large',
  415: 'The content type is not application/json',
  429: 'Too many requests; Retry-After tells when to try again',
  500: 'Unexpected error; requestId finds it in the log',
  502: 'The wallet service failed',
  503: 'Not available right now; Retry-After tells when to try again',
}

/** Collects the routes into OpenAPI 3.1 and serves it at /openapi.json, with a reference to read at /docs. */
export async function registerOpenApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Strongroom',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Custody vault service: ledger, policies, approvals and record. Amounts are strings; lists are ' +
          `paged by \`cursor\`; every write accepts \`Idempotency-Key\`, except the webhook. Text holds no ` +
          'control, zero-width or bidirectional character (emoji keep theirs), and line breaks only in ' +
          'comments, descriptions, notes, payment purposes, reasons and help texts. A 400 lists up to ' +
          `${faultsListedMax} faults; in a request of more than ${faultyValuesMax} values, not all of them ` +
          'are looked for.',
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A session token or a service token (`srk_…`).' },
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
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without the top bar of the library, which selects a document: there is only one.
    uiConfig: { layout: 'BaseLayout', docExpansion: 'none', deepLinking: true },
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

/** The document as it is committed and served: indented, so that a diff shows a change line by line. */
export function openApiText(app: App): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`
}

/** Adds what routes do not declare themselves: examples, descriptions of statuses, and the header of repeatable writes. */
function complete(document: OpenApiDocument): OpenApiDocument {
  const components = document.components.schemas
  const operations = Object.values(document.paths).flatMap((path) => Object.entries(path))
  for (const [method, operation] of operations) {
    if (takesKey(method, operation)) {
      operation.parameters = [...(operation.parameters ?? []), structuredClone(idempotencyKey)]
    }
    for (const status of shellErrors(method, operation)) {
      operation.responses[status] ??= {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      }
    }
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema !== undefined) parameter.example ??= exampleOf(parameter.schema, components)
    }
    addMediaExamples(operation.requestBody?.content, components)
    for (const [status, response] of Object.entries(operation.responses)) {
      if (response.description === undefined || response.description === 'Default Response')
        response.description = meanings[status] ?? 'Error'
      if (status.startsWith('2')) addMediaExamples(response.content, components)
    }
  }
  return document
}

/** Errors of the HTTP shell itself: a foreign origin, a key that was used before, a body that it cannot read. */
function shellErrors(method: string, operation: Operation): string[] {
  return [
    ...(operation.security !== undefined && method !== 'get' ? ['403'] : []),
    ...(takesKey(method, operation) ? ['409'] : []),
    ...(operation.requestBody === undefined ? [] : ['413', '415']),
  ]
}

/** The webhook does not take the header: a repeated event changes nothing anyway. */
function takesKey(method: string, operation: Operation): boolean {
  return method !== 'get' && operation.operationId !== 'receiveWalletEvent'
}

function addMediaExamples(content: Media | undefined, components: Record<string, JsonSchema>): void {
  for (const media of Object.values(content ?? {})) {
    if (media.schema !== undefined && media.example === undefined) media.example = exampleOf(media.schema, components)
  }
}
