import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { type AccessLevel, type Caller, callerOf, type Member, memberOf } from '../access/caller.ts'
import type { Db, Trx } from '../db/client.ts'
import type { Deps } from '../deps.ts'
import { type PageQuery, type Position, pageOf, toPage } from '../lib/cursor.ts'
import { type Answer, answerOnce, mutate, type Refusal, type Sent } from './mutate.ts'
import { type App, type RouteSpec, route } from './route.ts'
import { PageOf, Ref } from './schema.ts'

type Spec = Omit<RouteSpec, 'tag'> & {
  preHandler?: preHandlerAsyncHookHandler
  /** false: requests do not count against the rate limit, for probes of a load balancer or an orchestrator. */
  rateLimit?: false
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

type Who<Level extends AccessLevel> = Level extends 'member' | 'administrator'
  ? { member: Member }
  : Level extends 'caller' | 'platform'
    ? { caller: Caller }
    : object

/** What a handler may answer: one of the documented statuses with the body documented for it, or a refusal. */
export type AnswerOf<S extends Pick<Spec, 'answers'>> =
  | {
      [Status in keyof S['answers'] & number]: S['answers'][Status] extends TSchema
        ? { status: Status; body: Static<S['answers'][Status]>; secrets?: readonly string[] }
        : { status: Status }
    }[keyof S['answers'] & number]
  | Refusal

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
    const who =
      access === 'member' || access === 'administrator'
        ? { member: memberOf(request) }
        : access === 'public'
          ? {}
          : { caller: callerOf(request) }
    const { params, query, body } = request
    return { params, query, body, now: deps.clock(), ...who } as Input<S>
  }

  function register<S extends Spec>(
    method: Method | 'get',
    path: string,
    spec: S,
    handle: (input: Input<S>, http: Http) => Promise<unknown>,
  ): void {
    const { preHandler, rateLimit, ...documented } = spec
    const { config, ...options } = route({ ...documented, tag })
    app[method](
      path,
      {
        ...(options as object),
        config: { ...config, ...(rateLimit === undefined ? {} : { rateLimit }) },
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
      work: (trx: Trx, input: Input<S>, http: Http) => Promise<AnswerOf<S>>,
    ): void =>
      register(method, path, spec, (input, http) =>
        mutate(deps, http.request, http.reply, (trx) => work(trx, input, http) as Promise<Answer>),
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
      read: (db: Db, input: Input<S>) => Promise<AnswerOf<S>>,
    ): void {
      register('post', path, spec, (input, { request, reply }) =>
        answerOnce(deps, request, reply, () => read(deps.db, input) as Promise<Answer>),
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
