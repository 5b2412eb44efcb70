import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import {
  type AccessLevel,
  type Caller,
  callerOf,
  isForServices,
  levelsOfVaults,
  type Member,
  memberOf,
  type ServiceLevel,
} from '../access/caller.ts'
import { type DirectoryCaller, directoryOf } from '../access/directory.ts'
import type { Scope } from '../access/scopes.ts'
import type { Db, Trx } from '../db/client.ts'
import type { Deps } from '../deps.ts'
import {
  byCreation,
  cursorTag,
  type PageQuery as Paged,
  type Paging,
  type Position,
  pageOf,
  toPage,
} from '../lib/cursor.ts'
import { type Confirm, confirmationOf } from './confirmation.ts'
import { type Answered, answerOnce, isSent, mutate, type Refusal, type Sent, toAnswer } from './mutate.ts'
import { type Redirected, type Reply, replyOf, type SentFile } from './reply.ts'
import { type RouteSpec, route } from './route.ts'
import { Closed, PageOf, PageQuery, pathParameters, Ref } from './schema.ts'
import { scimType } from './scim-form.ts'

type Answers = RouteSpec['answers']
type OptionalSchema = TSchema | undefined
type Parameters = Readonly<Record<string, TSchema>>
type NoParameters = Record<never, never>

type Documented = Omit<
  RouteSpec,
  'operationId' | 'tag' | 'access' | 'scope' | 'params' | 'querystring' | 'body' | 'answers' | 'files'
>

/** The description of an endpoint besides its name, its path, its answers and its handler. */
interface Spec<Level, PathSchemas, Query, Body> extends Documented {
  /** The access level, if it differs from the level of the group. */
  access?: Level
  /** The schemas of parameters of the path, by name, when `pathParameters` is not precise enough. */
  params?: PathSchemas
  querystring?: Query
  body?: Body
  /** The fields of the answer that are shown once. They are not stored, and the answer to a repetition omits them. */
  secrets?: readonly string[]
  /** With false, requests do not count against the rate limit. For probes of a load balancer or an orchestrator. */
  rateLimit?: false
  /** A POST that auditors of the vault may send too, because it changes nothing in the vault. */
  openToAuditors?: true
  /**
   * Decides, before the request is validated, if a member below the level may call it too. The handler checks the objects that
   * they name.
   */
  alsoFor?: (db: Db, member: Member, now: Date) => Promise<boolean>
  /** True if members whom a hold stops in the vault may call it, so that they learn who placed the hold. */
  openToHeld?: true
}
type AnySpec = Spec<AccessLevel, Parameters, TSchema, TSchema> & Pick<RouteSpec, 'answers' | 'files' | 'scope'>

/** The scopes that a group gives its endpoints: its reads and calculations, and its writes. */
export type GroupScopes = { reads?: Scope; writes?: Scope }
type ScopeOfKind<K extends Kind> = K extends 'read' | 'calculate' ? 'reads' : 'writes'

/** The scope of an endpoint. It is required for an endpoint that services can call, if its group gives none. */
type Scoped<Level extends AccessLevel, Scopes extends GroupScopes, K extends Kind> =
  Scopes extends Record<ScopeOfKind<K>, Scope>
    ? { scope?: Scope }
    : Level extends ServiceLevel
      ? { scope: Scope }
      : { scope?: never }
type Method = 'post' | 'patch' | 'put' | 'delete'

/** The parameters in a path (`/vaults/:code`), each with the type of its schema. A parameter without a schema has type `never`. */
type Params<Path extends string, PathSchemas> = {
  [Name in NamesIn<Path>]: Name extends keyof PathSchemas
    ? StaticOf<PathSchemas[Name]>
    : Name extends keyof typeof pathParameters
      ? string
      : never
}
type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

/** The input of a handler: the caller or member by the access level, the validated parts of the request, and the time. */
export type Input<Level extends AccessLevel, Named, Query, Body> = {
  params: Named
  query: StaticOf<Query>
  body: StaticOf<Body>
  now: Date
} & Who<Level>

/** The input of an endpoint that takes only its path. */
export type InputOf<Level extends AccessLevel, Path extends string> = Input<
  Level,
  Params<Path, NoParameters>,
  undefined,
  undefined
>

type Who<Level extends AccessLevel> = Level extends 'member' | 'auditor' | 'administrator'
  ? { member: Member; confirm: Confirm }
  : Level extends 'caller' | 'platform'
    ? { caller: Caller; confirm: Confirm }
    : Level extends 'directory'
      ? { directory: DirectoryCaller }
      : object

/**
 * The result of a handler: the body of the documented answer other than 202, a documented answer by `ok(body)`, `created(body)`
 * or `accepted(body)`, or a refusal.
 */
type Returned<A extends Answers> =
  | { [Status in keyof A]: A[Status] extends TSchema ? Answered<Status, Static<A[Status]>> : never }[keyof A]
  | (IsUnion<UsualStatus<A>> extends true ? never : BodyOf<A[UsualStatus<A>]>)
  | Refusal
type UsualStatus<A> = keyof A extends 202 ? keyof A : Exclude<keyof A, 202>
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement has this type.
type BodyOf<S> = S extends TSchema ? Static<S> : undefined | void

/** The answers of a GET: the documented body, and the file or redirect that it sent where one is documented. */
type ReadAnswer<A extends Answers, Files> =
  | (A extends { 200: infer S extends TSchema } ? Static<S> : never)
  | FileAnswer<Files>
  | (A extends { 302: null } ? Redirected : never)
type FileAnswer<Files> = Files extends readonly string[] ? SentFile : never

export type Http = { request: FastifyRequest; reply: Reply }

type Received = { request: FastifyRequest; reply: FastifyReply }
const toHttp = ({ request, reply }: Received): Http => ({ request, reply: replyOf(reply) })

/** The input of a request whose endpoint opens its transaction itself. */
export type Sending = Http & {
  write<R>(work: (trx: Trx) => Promise<R>): Promise<Sent<R>>
  /** Runs work that is not one transaction: it calls other services, or writes several times. */
  answerOnce<R>(work: () => Promise<R>): Promise<Sent<R>>
}

type Kind = 'read' | 'write' | 'calculate' | 'send'
type Handler<K extends Kind, I, A extends Answers, Files> = K extends 'read'
  ? (db: Db, input: I, http: Http) => Promise<ReadAnswer<A, Files>>
  : K extends 'write'
    ? (trx: Trx, input: I, http: Http) => Promise<Returned<A>>
    : K extends 'calculate'
      ? (db: Db, input: I, http: Http) => Promise<Returned<A>>
      : (input: I, http: Sending) => Promise<Sent<Returned<A>> | FileAnswer<Files>>

/** Registers one endpoint. The path and the schemas give the types of the input and the answers of its handler. */
type Register<Usual extends AccessLevel, Scopes extends GroupScopes, K extends Kind> = <
  Path extends string,
  A extends Answers,
  Level extends AccessLevel = Usual,
  PathSchemas extends Parameters = NoParameters,
  Query extends OptionalSchema = undefined,
  Body extends OptionalSchema = undefined,
  Files extends readonly string[] | undefined = undefined,
>(
  operationId: string,
  path: Path,
  spec: Spec<Level, PathSchemas, Query, Body> &
    Scoped<Level, Scopes, K> & {
      answers: A
      files?: Files
      handler: Handler<K, Input<Level, Params<Path, PathSchemas>, Query, Body>, NoInfer<A>, NoInfer<Files>>
    },
) => void

export type Endpoints<Usual extends AccessLevel, Scopes extends GroupScopes = Required<GroupScopes>> = ReturnType<
  typeof endpoints<Usual, Scopes>
>

/**
 * Registers endpoints under one tag of the documentation, for one level of access and the scopes of the group unless an endpoint names
 * another. An answer that is not the documented one does not compile, nor does an endpoint for services without a scope.
 * tidy: long because it is the list of what a module can register.
 */
export function endpoints<Usual extends AccessLevel, Scopes extends GroupScopes = Record<never, never>>(
  typed: App,
  deps: Deps,
  tag: string,
  usual: { access: Usual; scopes?: Scopes },
) {
  // Fastify's own type inference is dropped, because the types of this file replace it.
  const app = typed as unknown as FastifyInstance
  const [toRead, toWrite] = [{ scope: usual.scopes?.reads }, { scope: usual.scopes?.writes }]

  function register(
    method: Method | 'get',
    [operationId, path]: [string, string],
    spec: object,
    handle: (input: never, http: Received) => Promise<unknown>,
  ): void {
    const { params, rateLimit, openToAuditors, openToHeld, alsoFor, ...rest } = spec as AnySpec
    const { access = usual.access } = rest
    const scope = isForServices(access) ? rest.scope : undefined
    const documented = { ...rest, operationId, tag, access, scope, params: paramsOf(path, params) }
    const { config, ...options } = route(documented, method === 'get' || openToAuditors === true)
    app[method](
      path,
      { ...(options as object), config: { ...config, rateLimit, openToAuditors, openToHeld, alsoFor } },
      async (request: FastifyRequest, reply: FastifyReply) => {
        const { params, query, body } = request
        if (access === 'directory') reply.type(scimType)
        const input = { params, query, body, now: deps.clock(), ...whoSends(access, request) }
        const answer = await handle(input as never, { request, reply })
        return isSent(answer) ? reply : answer
      },
    )
  }

  /**
   * A list in pages. Its query has only the fields of a page, unless `querystring` says otherwise. `load` reads one row more than
   * the limit; `position` is by `created_at` and `id` by default.
   */
  function list<
    Path extends string,
    Item extends TSchema & { $id?: string },
    Row extends object,
    Level extends AccessLevel = Usual,
    PathSchemas extends Parameters = NoParameters,
    Query extends OptionalSchema = undefined,
    ListInput = Input<Level, Params<Path, PathSchemas>, Query, undefined>,
  >(
    operationId: string,
    path: Path,
    spec: Spec<Level, PathSchemas, Query, undefined> &
      Scoped<Level, Scopes, 'read'> & {
        item: Item
        load: (db: Db, input: ListInput, page: Paging) => Promise<Row[]>
        present: (row: Row, input: ListInput) => Static<NoInfer<Item>>
        position?: (row: Row) => Position
        /** The properties that decide the content of the list besides the limit. A cursor is then valid only for the same content. */
        cursorOf?: (input: ListInput) => object
      },
  ): void {
    const { item, load, present, position = byCreation as never, cursorOf } = spec
    register(
      'get',
      [operationId, path],
      { ...toRead, querystring: PageQuery, ...spec, answers: { 200: PageOf(Ref(item)) } },
      async (input, http) => {
        const tag = cursorOf === undefined ? undefined : cursorTag(cursorOf(input))
        const page = pageOf(http.request.query as Paged, tag)
        return toPage(await load(deps.db, input, page), page.limit, position, (row) => present(row, input), tag)
      },
    )
  }

  const get: Register<Usual, Scopes, 'read'> = (operationId, path, spec) =>
    register('get', [operationId, path], { ...toRead, ...spec }, (input, http) =>
      spec.handler(deps.db, input, toHttp(http)),
    )

  const write =
    (method: Method): Register<Usual, Scopes, 'write'> =>
    (operationId, path, spec) =>
      register(method, [operationId, path], { ...toWrite, ...spec }, (input, http) =>
        sending(http, spec).write((trx) => spec.handler(trx, input, toHttp(http))),
      )

  const calculate: Register<Usual, Scopes, 'calculate'> = (operationId, path, spec) =>
    register('post', [operationId, path], { ...toRead, ...spec, openToAuditors: true }, (input, http) =>
      sending(http, spec).answerOnce(() => spec.handler(deps.db, input, toHttp(http))),
    )

  const send =
    (method: Method): Register<Usual, Scopes, 'send'> =>
    (operationId, path, spec) =>
      register(method, [operationId, path], { ...toWrite, ...spec }, (input, http) =>
        spec.handler(input, sending(http, spec)),
      )

  function sending(http: Received, spec: Pick<AnySpec, 'answers' | 'secrets'>): Sending {
    const { request, reply } = http
    return {
      ...toHttp(http),
      write: (work) => mutate(deps, request, reply, async (trx) => toAnswer(spec, await work(trx))) as Promise<never>,
      answerOnce: (work) =>
        answerOnce(deps, request, reply, async () => toAnswer(spec, await work())) as Promise<never>,
    }
  }

  return {
    access: usual.access,
    get,
    list,
    /** A write: one transaction, with one effect for each Idempotency-Key. */
    post: write('post'),
    patch: write('patch'),
    put: write('put'),
    delete: write('delete'),
    /** A POST that changes nothing, such as a preview. It runs in no transaction and may call other services. */
    calculate,
    /** A write that opens its transaction itself, because it must act before it or around it. */
    send: { post: send('post'), patch: send('patch'), put: send('put'), delete: send('delete') },
  }
}

type Sender = Partial<Who<'member'> & Who<'caller'> & Who<'directory'>>

function whoSends(access: AccessLevel, request: FastifyRequest): Sender {
  if (access === 'public') return {}
  if (access === 'directory') return { directory: directoryOf(request) }
  const confirm = confirmationOf(request)
  return levelsOfVaults.includes(access)
    ? { member: memberOf(request), confirm }
    : { caller: callerOf(request), confirm }
}

function paramsOf(path: string, ofEndpoint: Parameters = {}): TSchema | undefined {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  if (names.length === 0) return undefined
  const known: Parameters = { ...pathParameters, ...ofEndpoint }
  const unknown = names.find((name) => known[name] === undefined)
  if (unknown !== undefined) throw new Error(`No schema describes the parameter ${unknown} of ${path}`)
  return Closed(Object.fromEntries(names.map((name) => [name, known[name]!])))
}

/** The Fastify instance of every module: schemas give the types of params, query, body and answer. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>
