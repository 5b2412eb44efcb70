import type { Static, TSchema } from 'typebox'
import type { AddressScope } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { ReportRequest } from './request.ts'
import type { ReportHeader } from './schema.ts'

/** What the catalogue says of one report: all that its JSON, its file and its background export need. */
export type ReportDefinition<
  Type extends string,
  Query extends TSchema,
  Answer extends TSchema,
  Request extends ReportRequest,
> = {
  /** Its name in paths, orders and file names. */
  type: Type
  documentation: { operationId: string; summary: string; description?: string }
  query: Query
  answer: Answer
  /** Components that the answer refers to and that no earlier report of the catalogue brings. */
  components?: readonly TSchema[]
  /**
   * Checks what the report is about.
   *
   * @throws 404 when the caller does not see it
   */
  checkSubject?(db: Db, scope: AddressScope, query: Static<Query>): Promise<void>
  /**
   * Reads the parameters, in the same way for JSON, files and the background.
   *
   * @throws 400 naming the parameter, 403 when a caller who is no administrator names another user
   */
  prepare(type: Type, member: Member, query: Static<Query>, now: Date): Request
  build(db: Db, request: Request): Promise<Static<Answer>>
  /** How the answer becomes a document, where the schema does not say enough or the answer is too long to be held. */
  document?: {
    blocks?: Readonly<Record<string, BlockLayout>>
    /** Hands the content to `use`; its streams can be read until that returns. Without it the whole answer is built. */
    open?<Result>(db: Db, request: Request, use: (content: ReportContent) => Promise<Result>): Promise<Result>
  }
}

/** A report of the catalogue, whichever it is. */
export type Report = ReportDefinition<string, TSchema, TSchema, ReportRequest>

/** How a document shows the block of an answer with this name, beyond what its schema says. */
export type BlockLayout = {
  title?: string
  /** The column that a reader looks for first. */
  firstColumn?: string
  /** Columns that are left out on paper, because others of the row say the same. */
  omittedInPrint?: readonly string[]
}

/** What a document is made of. */
export type ReportContent = {
  /** The answer; blocks that are streamed may be missing. */
  report: { report: Static<typeof ReportHeader> } & Record<string, unknown>
  /** Rows of a block that is too long to be held. */
  streams?: Record<string, AsyncIterable<object>>
  /** How many rows there are, roughly where they are streamed; counted unless given. */
  totalRows?: number
}

/** Parameters as they arrived: in the query, or in the order of an export. */
export type Parameters = Record<string, unknown>

/** Keeps the type of a definition while it is checked that its parts fit each other. */
export function report<
  const Type extends string,
  Query extends TSchema,
  Answer extends TSchema,
  Request extends ReportRequest,
>(definition: ReportDefinition<Type, Query, Answer, Request>): ReportDefinition<Type, Query, Answer, Request> {
  return definition
}
