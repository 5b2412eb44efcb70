import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preHandlerAsyncHookHandler,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { type AccessLevel, type Caller, callerOf, levelsOfVaults, type Member, memberOf } from '../access/caller.ts'
import type { Db, Trx } from '../db/client.ts'
import type { Deps } from '../deps.ts'
import { type PageQuery, type Position, pageOf, toPage } from '../lib/cursor.ts'
import { bodyBytesMax } from '../lib/limits.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import { type Confirm, confirmationOf } from './confirmation.ts'
import { type Answer, answerOnce, mutate, noContent, type Refusal, type Sent } from './mutate.ts'
import { ErrorSchema, PageOf, Ref } from './schema.ts'

type Spec = Omit<RouteSpec, 'tag'> & {
  preHandler?: preHandlerAsyncHookHandler
  /** false: requests do not count against the rate limit, for probes of a load balancer or an orchestrator. */
  rateLimit?: false
  /** A POST that auditors of the vault may send too, because it changes nothing in the vault. */
  openToAuditors?: true
  /** Members below the level who may call it too, asked before the request is validated; the handler judges what they name. */
  alsoFor?: (db: Db, member: Member, now: Date) => Promise<boolean>
  /** Open to members whom a hold stops in the vault, so that they learn who placed it. */
  openToHeld?: true
}
type ListSpec = Omit<Spec, 'answers' | 'files'> & { item: TSchema & { $id?: string } }
type Method = 'post' | 'patch' | 'put' | 'delete'

type Part<S, Name extends string> = S extends { [P in Name]: infer T extends TSchema } ? Static<T> : undefined

/** What a handler receives: the caller or member by the access level, the validated parts of the request, and the time. */
export type Input<S extends { access: AccessLevel }> = {
  params: Part<S, 'params'>
  query: Part<S, 'querystring'>
  body: Part<S, 'body'>
  now: Date
} & Who<S['access']>

type Who<Level extends AccessLevel> = Level extends 'member' | 'auditor' | 'administrator'
  ? { member: Member; confirm: Confirm }
  : Level extends 'caller' | 'platform'
    ? { caller: Caller; confirm: Confirm }
    : object

/** What a handler may answer: one of the documented statuses with the body documented for it, or a refusal. */
export type AnswerOf<S extends Pick<Spec, 'answers'>> =
  | {
      [Status in keyof S['answers'] & number]: S['answers'][Status] extends TSchema
        ? { status: Status; body: Static<S['answers'][Status]>; secrets?: readonly string[] }
        : { status: Status }
    }[keyof S['answers'] & number]
  | Refusal

/** A write that is documented to have no body may answer nothing, which is sent as 204. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement has this type.
type NoAnswer<S extends Spec> = S['answers'] extends { 204: null } ? undefined | void : never

/** What a GET may answer: the documented body; a reply that it sent itself where a file or a redirect is documented. */
type ReadAnswer<S extends Spec> =
  | (S['answers'] extends { 200: infer T extends TSchema } ? Static<T> : never)
  | (S extends { files: readonly string[] } | { answers: { 302: null } } ? FastifyReply : never)

export type Http = { request: FastifyRequest; reply: FastifyReply }

type Dated = { created_at: Date; id: string }
const byCreation = (row: object): Position => ({ createdAt: (row as Dated).created_at, id: (row as Dated).id })

export type Endpoints = ReturnType<typeof endpoints>

/**
 * Registers the endpoints of a module under one tag of the documentation. The schemas of an endpoint give the types of what
 * its handler receives and may answer, so an answer that is not the documented one does not compile.
 * tidy: long because it is the list of what a module can register.
 */
export function endpoints(typed: App, deps: Deps, tag: string) {
  // Fastify's own inference is left out: the types of this file take its place.
  const app = typed as unknown as FastifyInstance

  function inputOf<S extends Spec | ListSpec>({ access }: S, request: FastifyRequest): Input<S> {
    const confirm = confirmationOf(request)
    const who = levelsOfVaults.includes(access)
      ? { member: memberOf(request), confirm }
      : access === 'public'
        ? {}
        : { caller: callerOf(request), confirm }
    const { params, query, body } = request
    return { params, query, body, now: deps.clock(), ...who } as Input<S>
  }

  function register<S extends Spec>(
    method: Method | 'get',
    path: string,
    spec: S,
    handle: (input: Input<S>, http: Http) => Promise<unknown>,
  ): void {
    const { preHandler, rateLimit, openToAuditors, openToHeld, alsoFor, ...documented } = spec
    const isReadOnly = method === 'get' || openToAuditors === true
    const { config, ...options } = route({ ...documented, tag }, isReadOnly)
    app[method](
      path,
      {
        ...(options as object),
        config: {
          ...config,
          ...(rateLimit === undefined ? {} : { rateLimit }),
          ...(openToAuditors === undefined ? {} : { openToAuditors }),
          ...(openToHeld === undefined ? {} : { openToHeld }),
          ...(alsoFor === undefined ? {} : { alsoFor }),
        },
        ...(preHandler === undefined ? {} : { preHandler }),
      },
      async (request: FastifyRequest, reply: FastifyReply) => handle(inputOf(spec, request), { request, reply }),
    )
  }

  const write =
    (method: Method) =>
    <const S extends Spec>(
      path: string,
      spec: S,
      work: (trx: Trx, input: Input<S>, http: Http) => Promise<AnswerOf<S> | NoAnswer<S>>,
    ): void =>
      register(method, path, spec, (input, http) =>
        mutate(
          deps,
          http.request,
          http.reply,
          async (trx) => ((await work(trx, input, http)) ?? noContent()) as Answer,
        ),
      )

  return {
    get<const S extends Spec>(
      path: string,
      spec: S,
      read: (db: Db, input: Input<S>, http: Http) => Promise<ReadAnswer<S>>,
    ): void {
      register('get', path, spec, (input, http) => read(deps.db, input, http))
    },

    /** A list of pages. `load` reads one row more than the limit; `position` is by `created_at` and `id` unless given. */
    list<const S extends ListSpec, Row extends object>(
      path: string,
      { item, ...spec }: S,
      load: (db: Db, input: Input<S>, page: { after: Position | null; limit: number }) => Promise<Row[]>,
      present: (row: Row, input: Input<S>) => Static<S['item']>,
      position: (row: Row) => Position = byCreation,
    ): void {
      register('get', path, { ...spec, answers: { 200: PageOf(Ref(item)) } } as Spec, async (untyped, { request }) => {
        const input = untyped as Input<S>
        const page = pageOf(request.query as PageQuery)
        return toPage(await load(deps.db, input, page), page.limit, position, (row) => present(row, input))
      })
    },

    /** A write: one transaction, one effect for each Idempotency-Key. */
    post: write('post'),
    patch: write('patch'),
    put: write('put'),
    delete: write('delete'),

    /** A POST that changes nothing, such as a preview. `read` runs in no transaction and may call other services. */
    calculate<const S extends Spec>(
      path: string,
      spec: S,
      read: (db: Db, input: Input<S>, http: Http) => Promise<AnswerOf<S>>,
    ): void {
      register('post', path, { ...spec, openToAuditors: true }, (input, http) =>
        answerOnce(deps, http.request, http.reply, () => read(deps.db, input, http) as Promise<Answer>),
      )
    },

    /** A write that opens its transaction itself, because it must do something before or around it. */
    send<const S extends Spec>(
      method: Method,
      path: string,
      spec: S,
      handle: (input: Input<S>, http: Http) => Promise<Sent<AnswerOf<S>>>,
    ): void {
      register(method, path, spec, handle)
    },
  }
}

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
  /** Other media types that the body may have, besides the JSON of `body` or, without that, instead of it. */
  uploads?: Uploads
  /** The largest body in bytes; by default the limit of all routes. */
  bodyBytesMax?: number
  /** Schemas of the successful answers by status; null for an answer without a body. */
  answers: Record<number, TSchema | null>
  /** A person who has passkeys, or anybody in a protected vault, must confirm it by one; its handler asks for that. */
  confirmed?: true | 'where protected'
  /** Media types of files that a 200 may be instead of JSON. */
  files?: readonly string[]
  /**
   * Reasons of errors beyond those that follow from the rest, such as `not_a_member`; a bare status where no reason is
   * particular to the operation. The document gets an example of each.
   */
  errors?: readonly (number | Reason)[]
}

/** By media type: what the body becomes for the route, and an example for the document. */
export type Uploads = Readonly<
  Record<string, { read(bytes: Buffer, request: FastifyRequest): unknown; example: string }>
>

type Schema<S extends RouteSpec> = Omit<
  { [K in keyof S as K extends 'params' | 'querystring' | 'body' ? K : never]: S[K] },
  never
>

const noQuery = Type.Object({}, { additionalProperties: false })

/**
 * The options of a route: its schemas, its documentation and its access level.
 *
 * @param isReadOnly whether it changes nothing in the vault of its path
 */
export function route<const S extends RouteSpec>(
  spec: S,
  isReadOnly = true,
): { schema: Schema<S>; config: { access: AccessLevel; uploads?: Uploads }; bodyLimit?: number } {
  // What a passkey signs is the method, the path and the JSON: nothing else may decide what such a request does.
  if (spec.confirmed !== undefined && (spec.querystring ?? spec.uploads) !== undefined)
    throw new Error(`${spec.operationId} is confirmed by a passkey, which signs neither a query nor a file`)
  const declared: Reason[] = (spec.errors ?? []).filter((error) => typeof error === 'string')
  if (spec.access === 'member' && !isReadOnly) declared.push('auditor_reads_only')
  if (spec.confirmed !== undefined) declared.push('passkey_required')
  if (spec.confirmed === 'where protected' && !declared.includes('person_required')) declared.push('person_required')
  const errors = new Set([
    ...[400, 429, 500, 503],
    ...(spec.confirmed === undefined ? [] : [403]),
    ...(spec.errors ?? []).map((error) => (typeof error === 'string' ? reasons[error] : error)),
  ])
  if (spec.body !== undefined || spec.uploads !== undefined) for (const status of [413, 415]) errors.add(status)
  if (spec.access !== 'public') errors.add(401)
  if (spec.access !== 'public' && spec.access !== 'caller') errors.add(403)
  if (levelsOfVaults.includes(spec.access)) errors.add(404)
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
    'x-access': spec.access,
    // For the examples of errors in the document, which does not show them.
    'x-reasons': declared,
    ...(spec.confirmed === undefined ? {} : { 'x-confirmed': true }),
    ...(spec.uploads === undefined ? {} : { 'x-uploads': examplesOf(spec.uploads) }),
    querystring: spec.querystring ?? noQuery,
    ...(spec.body === undefined ? {} : { body: byName(spec.body) }),
    response,
  }
  return {
    schema: schema as unknown as Schema<S>,
    config: { access: spec.access, ...(spec.uploads === undefined ? {} : { uploads: spec.uploads }) },
    // All other routes have the limit of unauthenticated senders.
    ...(spec.access === 'public' ? {} : { bodyLimit: spec.bodyBytesMax ?? bodyBytesMax }),
  }
}

function examplesOf(uploads: Uploads): Record<string, string> {
  return Object.fromEntries(Object.entries(uploads).map(([mediaType, { example }]) => [mediaType, example]))
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
