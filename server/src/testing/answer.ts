import type { ErrorBody } from '../../../sdk/src/generated/api.ts'
import type { paths } from '../../../sdk/src/generated/paths.ts'

export type * from '../../../sdk/src/generated/api.ts'

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete'

/** The segments of a path: `'/vaults/{code}'` is `['', 'vaults', '{code}']`. */
type Segments<Path extends string> = Path extends `${infer First}/${infer Rest}` ? [First, ...Segments<Rest>] : [Path]

type WithoutQuery<Url extends string> = Url extends `${infer Path}?${string}` ? Path : Url

/** A segment fits a parameter, itself, and the names that a pattern such as `${string}` may become. */
type FitsSegment<Actual extends string, Known> = Known extends `{${string}}` | Actual ? true : false

type Fits<Actual, Known> = Actual extends [infer G extends string, ...infer Gs]
  ? Known extends [infer K, ...infer Ks]
    ? FitsSegment<G, K> extends true
      ? Fits<Gs, Ks>
      : false
    : false
  : Known extends []
    ? true
    : false

type Routes = { [Path in keyof paths]: Segments<Path> }

type RouteOf<Actual> = { [Path in keyof Routes]: Fits<Actual, Routes[Path]> extends true ? Path : never }[keyof Routes]

type FullPath<Url extends string> = Url extends `//${infer Path}` ? `/${Path}` : `/api/v1${Url}`

type Route<Url extends string> = Url extends unknown ? RouteOf<Segments<FullPath<WithoutQuery<Url>>>> : never

type Bodies<Responses> = {
  [Status in keyof Responses & number]: Responses[Status] extends { content: { 'application/json': infer Body } }
    ? Body
    : never
}[keyof Responses & number]

/** The body of an error in tests. `details` are the faulty fields here; a test that expects a sentence compares it whole. */
type Failure = Omit<ErrorBody, 'details'> & { details: Exclude<ErrorBody['details'], string | undefined> }

type Keys<Body> = Body extends unknown ? keyof Body : never
type Field<Body, Key extends PropertyKey> = Body extends unknown
  ? Key extends keyof Body
    ? Exclude<Body[Key], undefined>
    : never
  : never

/**
 * The fields of the documented answers of one operation, and of the error. A test states by `status` which answer it expects.
 * If an error has a field of the same name, such as `code`, the type is that of the documented answer.
 */
type AnyOf<Body> = {
  [Key in Keys<Body> | keyof Failure]: Key extends Keys<Body> ? Field<Body, Key> : Failure[Key & keyof Failure]
}

type Documented<Path extends keyof paths, M extends string> = AnyOf<
  Path extends unknown
    ? paths[Path] extends { [K in M]: { responses: infer Responses } }
      ? Bodies<Responses>
      : never
    : never
>

/** The body of an answer whose operation is unknown. A test may only read the error. */
export type AnyBody = AnyOf<never>

/**
 * The body that `openapi.json` documents for a request. Its URL is as tests write it: relative to /api/v1, or to the origin
 * after `//`. A URL that matches no documented path is a page or is unknown.
 *
 * BodyOf<'get', '/vaults/main/members?limit=1'>['items'][number]  // Member
 * BodyOf<'post', `/vaults/${string}/transfers`>['status']         // 'awaiting_approval' | 'pending' | …
 *
 * TypeScript must not widen the URL to `string`: a base is written `as const`, and a helper takes a pattern such as ``
 * `/vaults/${string}` `` or is generic in it.
 */
export type BodyOf<M extends Method, Url extends string> = [Route<Url>] extends [never]
  ? Url extends `//${string}`
    ? string
    : AnyBody
  : Documented<Route<Url>, M>

/**
 * The answer that a test client returns. Without an argument, a test reads only the status and the error. A helper that needs
 * one field takes the part, such as `Answer<{ request: ApprovalRequest }>`.
 */
export type Answer<Body = AnyBody> = {
  status: number
  body: Body
  headers: Record<string, string | string[] | number | undefined>
}

/**
 * The answer to a request. In the type of a helper, names stand for the variable segments:
 *
 * act(by: Person, id: string): Promise<AnswerOf<'post', '/vaults/v/transfers/t/approve'>>
 */
export type AnswerOf<M extends Method, Url extends string> = Answer<BodyOf<M, Url>>
