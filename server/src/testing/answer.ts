import type { ErrorBody } from '../../../sdk/src/generated/api.ts'
import type { paths } from '../../../sdk/src/generated/paths.ts'

export type * from '../../../sdk/src/generated/api.ts'

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete'

/** The segments of a path: `'/vaults/{code}'` is `['', 'vaults', '{code}']`. */
type Segments<Path extends string> = Path extends `${infer First}/${infer Rest}` ? [First, ...Segments<Rest>] : [Path]

type WithoutQuery<Url extends string> = Url extends `${infer Path}?${string}` ? Path : Url

/** A segment fits a parameter, itself, and the names that a pattern such as `${string}` may become. */
type FitsSegment<Given extends string, Known> = Known extends `{${string}}` | Given ? true : false

type Fits<Given, Known> = Given extends [infer G extends string, ...infer Gs]
  ? Known extends [infer K, ...infer Ks]
    ? FitsSegment<G, K> extends true
      ? Fits<Gs, Ks>
      : false
    : false
  : Known extends []
    ? true
    : false

type Routes = { [Path in keyof paths]: Segments<Path> }

type RouteOf<Given> = { [Path in keyof Routes]: Fits<Given, Routes[Path]> extends true ? Path : never }[keyof Routes]

type FullPath<Url extends string> = Url extends `//${infer Path}` ? `/${Path}` : `/api/v1${Url}`

type Route<Url extends string> = Url extends unknown ? RouteOf<Segments<FullPath<WithoutQuery<Url>>>> : never

type Bodies<Responses> = {
  [Status in keyof Responses & number]: Responses[Status] extends { content: { 'application/json': infer Body } }
    ? Body
    : never
}[keyof Responses & number]

/** Where `details` are a sentence, a test compares them whole; here they are the faulty fields. */
type Failure = Omit<ErrorBody, 'details'> & { details: Exclude<ErrorBody['details'], string | undefined> }

type Keys<Body> = Body extends unknown ? keyof Body : never
type Field<Body, Key extends PropertyKey> = Body extends unknown
  ? Key extends keyof Body
    ? Exclude<Body[Key], undefined>
    : never
  : never

/**
 * What the documented answers of one operation hold, and the error: a test says by `status` which of them it expects.
 * Where an error has a field of the same name, such as `code`, the type is that of the documented answer.
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

/** The body of an answer whose operation is not known: a test may look at the error only. */
export type AnyBody = AnyOf<never>

/**
 * The body that `openapi.json` documents for a request, found by its URL as tests write it: relative to /api/v1, or to the
 * origin after `//`. What is none of the documented paths is a page, or nothing is known of it.
 *
 *     BodyOf<'get', '/vaults/main/members?limit=1'>['items'][number]  // Member
 *     BodyOf<'post', `/vaults/${string}/transfers`>['status']         // 'awaiting_approval' | 'pending' | …
 *
 * For TypeScript to know it, a URL must not become a `string` on its way: a base is written `as const`, and a helper
 * takes a pattern such as `` `/vaults/${string}` `` or is generic in it.
 */
export type BodyOf<M extends Method, Url extends string> = [Route<Url>] extends [never]
  ? Url extends `//${string}`
    ? string
    : AnyBody
  : Documented<Route<Url>, M>

/**
 * What a test client answers. Without an argument, an answer of which only the status and the error are looked at; a
 * helper that needs one field takes the part, such as `Answer<{ request: ApprovalRequest }>`.
 */
export type Answer<Body = AnyBody> = {
  status: number
  body: Body
  headers: Record<string, string | string[] | number | undefined>
}

/**
 * The answer to a request. Where a helper returns it, names stand for what varies:
 *
 *     act(by: Person, id: string): Promise<AnswerOf<'post', '/vaults/v/transfers/t/approve'>>
 */
export type AnswerOf<M extends Method, Url extends string> = Answer<BodyOf<M, Url>>
