import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { AccessLevel } from '../access/caller.ts'
import { bodyBytesMax } from '../lib/limits.ts'
import { ErrorSchema, Ref } from './schema.ts'

/** The Fastify instance of every module: schemas give the types of params, query, body and answer. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type RouteSpec = {
  operationId: string
  summary: string
  description?: string
  tag: string
  access: AccessLevel
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
  /** Schemas of the successful answers by status; null for an answer without a body. */
  answers: Record<number, TSchema | null>
  /** Media types of files that a 200 may be instead of JSON. */
  files?: readonly string[]
  /** Statuses of errors beyond those that follow from the rest (400, 401, 403, 404 for a vault, 429, 500, 503). */
  errors?: readonly number[]
}

type Schema<S extends RouteSpec> = Omit<
  { [K in keyof S as K extends 'params' | 'querystring' | 'body' ? K : never]: S[K] },
  never
>

const noQuery = Type.Object({}, { additionalProperties: false })

/** The options of a route: its schemas, its documentation and its access level. */
export function route<const S extends RouteSpec>(
  spec: S,
): { schema: Schema<S>; config: { access: AccessLevel }; bodyLimit?: number } {
  const errors = new Set([400, 429, 500, 503, ...(spec.errors ?? [])])
  if (spec.body !== undefined) for (const status of [413, 415]) errors.add(status)
  if (spec.access !== 'public') errors.add(401)
  if (spec.access !== 'public' && spec.access !== 'caller') errors.add(403)
  if (spec.access === 'member' || spec.access === 'administrator') errors.add(404)
  const response: Record<number, unknown> = {}
  for (const [status, schema] of Object.entries(spec.answers)) {
    response[Number(status)] = schema === null ? { type: 'null', description: 'No content' } : byName(schema)
  }
  if (spec.files !== undefined) response[200] = withFiles(response[200], spec.files)
  for (const status of [...errors].sort()) response[status] = Ref(ErrorSchema)
  const schema = {
    operationId: spec.operationId,
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    tags: [spec.tag],
    ...(spec.access === 'public' ? {} : { security: [{ bearer: [] }, { cookie: [] }] }),
    ...(spec.params === undefined ? {} : { params: spec.params }),
    querystring: spec.querystring ?? noQuery,
    ...(spec.body === undefined ? {} : { body: byName(spec.body) }),
    response,
  }
  return {
    schema: schema as unknown as Schema<S>,
    config: { access: spec.access },
    // All other routes have the limit of unauthenticated senders.
    ...(spec.access === 'public' ? {} : { bodyLimit: bodyBytesMax }),
  }
}

/** A response that is JSON, where the route has a JSON answer, or a file of one of the media types. */
function withFiles(json: unknown, mediaTypes: readonly string[]): object {
  const file = { schema: { type: 'string', format: 'binary', examples: ['(bytes of the file)'] } }
  const content: Record<string, unknown> = json === undefined ? {} : { 'application/json': { schema: json } }
  for (const type of mediaTypes) content[type] = file
  return { description: 'Success', content }
}

/** A component is referred to, never repeated, so that clients get one type for it. */
function byName(schema: TSchema & { $id?: string }): TSchema {
  return schema.$id === undefined ? schema : Ref(schema)
}
