import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type AccessLevel, levelsOfVaults } from '../access/caller.ts'
import type { Scope } from '../access/scopes.ts'
import { bodyBytesMax } from '../lib/limits.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import { ErrorSchema, Ref } from './schema.ts'
import { ScimError } from './scim-form.ts'

export type RouteSpec = {
  operationId: string
  summary: string
  description?: string
  tag: string
  access: AccessLevel
  /** The scope that a service token needs; absent for an endpoint that services cannot call. */
  scope?: Scope | undefined
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
  /** Other media types that the body may have, besides the JSON of `body` or, without `body`, instead of it. */
  uploads?: Uploads
  /** The largest body in bytes; by default the limit of all routes. */
  bodyBytesMax?: number
  /** Schemas of the successful answers by status; null for an answer without a body. */
  answers: Record<number, TSchema | null>
  /**
   * Set if a person who has passkeys, or any person in a protected vault, must confirm the request with a passkey. The handler
   * demands the confirmation.
   */
  confirmed?: true | 'where protected'
  /** The media types of files that a 200 may have instead of JSON. */
  files?: readonly string[]
  /**
   * The reasons of errors that do not follow from the other properties, such as `not_a_member`; only a status when no reason is
   * specific to the operation. The document gets an example of each.
   */
  errors?: readonly (number | Reason)[]
}

/** The reader of each media type, which converts the body for the route, and an example for the document. */
export type Uploads = Readonly<
  Record<string, { read(bytes: Buffer, request: FastifyRequest): unknown; example: string }>
>

type SchemasOf<S extends RouteSpec> = Pick<S, keyof S & ('params' | 'querystring' | 'body')>

const noQuery = Type.Object({}, { additionalProperties: false })

/**
 * Returns the options of a route: its schemas, its documentation and its access level.
 *
 * @param isReadOnly true if it changes nothing in the vault of its path
 */
export function route<const S extends RouteSpec>(
  spec: S,
  isReadOnly = true,
): {
  schema: SchemasOf<S>
  config: { access: AccessLevel; scope: Scope | undefined; uploads?: Uploads }
  bodyLimit?: number
} {
  // A passkey signs the method, the path and the JSON. No other part may decide the effect of such a request.
  if (spec.confirmed !== undefined && (spec.querystring ?? spec.uploads) !== undefined)
    throw new Error(`${spec.operationId} is confirmed by a passkey, which signs neither a query nor a file`)
  const declared: Reason[] = (spec.errors ?? []).filter((error) => typeof error === 'string')
  if ((spec.access === 'member' || spec.access === 'administrator') && !isReadOnly) declared.push('auditor_reads_only')
  if (spec.confirmed !== undefined) declared.push('passkey_required')
  if (spec.confirmed === 'where protected' && !declared.includes('person_required')) declared.push('person_required')
  const errors = new Set([400, 429, 500, 503])
  for (const error of spec.errors ?? []) errors.add(typeof error === 'string' ? reasons[error] : error)
  if (spec.confirmed !== undefined) errors.add(403)
  if (spec.body !== undefined || spec.uploads !== undefined) for (const status of [413, 415]) errors.add(status)
  if (spec.access !== 'public') errors.add(401)
  const isScim = spec.access === 'directory'
  if (spec.access !== 'public' && !isScim) errors.add(403)
  if (levelsOfVaults.includes(spec.access)) errors.add(404)
  const response: Record<number, unknown> = {}
  for (const [status, schema] of Object.entries(spec.answers)) {
    response[Number(status)] = schema === null ? { type: 'null', description: 'No content' } : byName(schema)
  }
  if (spec.files !== undefined) response[200] = withFiles(response[200], spec.files)
  for (const status of [...errors].sort()) response[status] = Ref(isScim ? ScimError : ErrorSchema)
  const isPublic = spec.access === 'public'
  const schema = {
    operationId: spec.operationId,
    summary: spec.summary,
    description: spec.description,
    tags: [spec.tag],
    security: isPublic ? undefined : isScim ? [{ directory: [] }] : [{ bearer: [] }, { cookie: [] }],
    params: spec.params,
    'x-access': spec.access,
    'x-scope': spec.scope,
    // The reasons serve the examples of errors in the document, which does not show the reasons themselves.
    'x-reasons': declared,
    'x-confirmed': spec.confirmed === undefined ? undefined : true,
    'x-uploads': spec.uploads === undefined ? undefined : examplesOf(spec.uploads),
    querystring: spec.querystring ?? noQuery,
    body: spec.body === undefined ? undefined : byName(spec.body),
    response,
  }
  return {
    schema: Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined)) as SchemasOf<S>,
    config: { access: spec.access, scope: spec.scope, uploads: spec.uploads },
    // All other routes have the limit of unauthenticated senders.
    bodyLimit: isPublic ? undefined : (spec.bodyBytesMax ?? bodyBytesMax),
  }
}

function examplesOf(uploads: Uploads): Record<string, string> {
  return Object.fromEntries(Object.entries(uploads).map(([mediaType, { example }]) => [mediaType, example]))
}

/** Returns a response that is JSON, if the route has a JSON answer, or a file of one of the media types. */
function withFiles(json: unknown, mediaTypes: readonly string[]): object {
  const file = { schema: { type: 'string', format: 'binary', examples: ['(bytes of the file)'] } }
  const content: Record<string, unknown> = json === undefined ? {} : { 'application/json': { schema: json } }
  for (const type of mediaTypes) content[type] = file
  return { description: 'Success', content }
}

/** Returns a reference to a component instead of its content, so that clients get one type for it. */
function byName(schema: TSchema & { $id?: string }): TSchema {
  return schema.$id === undefined ? schema : Ref(schema)
}
