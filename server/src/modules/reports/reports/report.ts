import type { Static, TSchema } from 'typebox'
import type { AddressScope } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { ReportRequest } from './request.ts'
import type { ReportHeader } from './schema.ts'

/** The definition of one report in the catalogue: all that its JSON, its file and its background export need. */
export type ReportDefinition<
  Type extends string,
  Query extends TSchema,
  Answer extends TSchema,
  Request extends ReportRequest,
> = {
  /** Its name in paths, exports and file names. */
  type: Type
  documentation: { operationId: string; summary: string; description?: string }
  query: Query
  answer: Answer
  /** Components that the answer refers to and that no earlier report of the catalogue declares. */
  components?: readonly TSchema[]
  /**
   * Checks the subject of the report.
   *
   * @throws 404 when the caller may not see it
   */
  checkSubject?(db: Db, scope: AddressScope, query: Static<Query>): Promise<void>
  /**
   * Parses the parameters, in the same way for JSON, files and the background.
   *
   * @throws 400 naming the parameter, 403 when a caller who is no administrator names another user
   */
  prepare(type: Type, member: Member, query: Static<Query>, now: Date): Request
  build(db: Db, request: Request): Promise<Static<Answer>>
  /** How the answer becomes a document, when the schema is not enough or the answer is too long for memory. */
  document?: {
    blocks?: Readonly<Record<string, BlockLayout>>
    /** Passes the content to `use`; its streams can be read until `use` returns. Without it the whole answer is built. */
    open?<Result>(db: Db, request: Request, use: (content: ReportContent) => Promise<Result>): Promise<Result>
  }
}

/** Any report of the catalogue. */
export type Report = ReportDefinition<string, TSchema, TSchema, ReportRequest>

/** How a document shows the block of an answer with this name, beyond its schema. */
export type BlockLayout = {
  title?: string
  /** The column to show first. */
  firstColumn?: string
  /** Columns that are left out in PDF, because others of the row hold the same. */
  omittedInPrint?: readonly string[]
}

/** The source of a document. */
export type ReportContent = {
  /** The answer; blocks that are streamed may be missing. */
  report: { report: Static<typeof ReportHeader> } & Record<string, unknown>
  /** The rows of a block that is too long for memory. */
  streams?: Record<string, AsyncIterable<object>>
  /** The number of rows, an estimate when they are streamed; counted unless given. */
  totalRows?: number
}

/** Parameters as received: in the query, or in the request for an export. */
export type Parameters = Record<string, unknown>

/** Keeps the type of a definition while the compiler checks that its parts fit each other. */
export function report<
  const Type extends string,
  Query extends TSchema,
  Answer extends TSchema,
  Request extends ReportRequest,
>(definition: ReportDefinition<Type, Query, Answer, Request>): ReportDefinition<Type, Query, Answer, Request> {
  return definition
}
