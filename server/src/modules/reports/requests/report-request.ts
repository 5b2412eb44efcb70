import type { Static, TSchema } from 'typebox'
import { type AddressScope, addressScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import { type PageQuery, type Paging, pageOf } from '../../../lib/cursor.ts'
import { badRequest } from '../../../lib/errors.ts'
import { idPattern, newId } from '../../../lib/ids.ts'
import { reportDayBucketYearsMax, reportYearsMax } from '../../../lib/limits.ts'
import { compareDecimals } from '../../../lib/money.ts'
import { flowTypes as allFlowTypes } from '../../../lib/operations.ts'
import type { Cell, Column, Fact, PrintedColumn, Table } from '../documents/document.ts'
import type { Words } from '../documents/words.ts'
import {
  daysBefore,
  type GroupBy,
  historyBounds,
  type Interval,
  isLongerThan,
  isZone,
  parseInstant,
} from './buckets.ts'
import { feeKinds } from './fee-kinds.ts'
import type { FieldCondition, OperationFilter } from './operation-filter.ts'
import type { FilterQuery, ReportHeader } from './schema.ts'
import { reportedStatuses } from './schema.ts'

/** The parsed parameters of every report. */
export type ReportRequest = {
  type: string
  timezone: string
  baseCurrency: string
  filter: OperationFilter
  /** The history query that lists the operations of the report. */
  drilldown: Record<string, string>
  now: Date
}

/** The request of a report whose rows are listed in pages. */
export type PagedRequest = ReportRequest & { page: Paging }

type FilterInput = Static<typeof FilterQuery> & {
  addressId?: string
  folderId?: string
  counterpartyId?: string
  counterpartyGroupId?: string
}

const defaultIntervalDays = 30
/** The maximum number of values in a list, however they are written. Every condition on a category field is a separate lookup. */
const listValuesMax = 200
const fieldConditionsMax = 20
const baseCurrencies: readonly string[] = ['USD']

/** @throws 400 naming the parameter, 403 when a caller who is not an administrator names another user */
export function readReportRequest(type: string, member: Member, query: FilterInput, now: Date): ReportRequest {
  const { timezone = 'UTC', baseCurrency = 'USD', userId, includeShared = false } = query
  const scope = addressScopeOf(member, { userId, includeShared })
  if (!isZone(timezone)) throw badRequest('timezone', 'must be a zone of the IANA database, such as Europe/Berlin')
  if (!baseCurrencies.includes(baseCurrency)) {
    throw badRequest(
      'baseCurrency',
      `must be one of ${baseCurrencies.join(', ')}: no rate of exchange is known to others`,
    )
  }
  const filter = readFilter(scope, readInterval(query, timezone, now), query)
  return { type, timezone, baseCurrency, filter, drilldown: drilldownOf(query, filter), now }
}

/** @throws as `readReportRequest`; 400 for a cursor of another list */
export function readPagedRequest(
  type: string,
  member: Member,
  query: FilterInput & PageQuery,
  now: Date,
): PagedRequest {
  return { ...readReportRequest(type, member, query, now), page: pageOf(query) }
}

function readInterval(query: { from?: string; to?: string }, timezone: string, now: Date): Interval {
  const to = query.to === undefined ? now : parseInstant('to', query.to, timezone)
  const from =
    query.from === undefined
      ? daysBefore(to, timezone, defaultIntervalDays)
      : parseInstant('from', query.from, timezone)
  if (from.getTime() >= to.getTime()) throw badRequest('from', 'must be before to')
  checkLength({ from, to }, timezone, reportYearsMax, `must not be more than ${reportYearsMax} years after from`)
  return { from, to }
}

/** @throws 400 when a report by day has more days than a report may have */
export function checkSteps(groupBy: GroupBy, { filter, timezone }: ReportRequest): void {
  if (groupBy !== 'day') return
  const message = `must not be more than ${reportDayBucketYearsMax} years after from when grouped by day`
  checkLength(filter.interval, timezone, reportDayBucketYearsMax, message)
}

/** @throws 400 when the interval is longer than `yearsMax` */
function checkLength(interval: Interval, timezone: string, yearsMax: number, message: string): void {
  if (isLongerThan(interval, timezone, yearsMax)) throw badRequest('to', message)
}

function readFilter(scope: AddressScope, interval: Interval, query: FilterInput): OperationFilter {
  const list = (name: ListName) => listOf(name, query[name])
  const statuses = listAmong('statuses', query.statuses, reportedStatuses)
  const flowTypes = listAmong('flowTypes', query.flowTypes, allFlowTypes)
  const { minimumAmount = null, maximumAmount = null } = query
  if (minimumAmount !== null && maximumAmount !== null && compareDecimals(minimumAmount, maximumAmount) > 0) {
    throw badRequest('minimumAmount', 'must not be above maximumAmount')
  }
  const lists = (...all: (string[] | null)[]) => all.filter((list) => list !== null)
  const listOfId = (id: string | undefined) => (id === undefined ? null : [id])
  return {
    scope,
    interval,
    dateBasis: query.dateBasis ?? 'createdAt',
    counterpartyClassification: query.counterpartyClassification ?? 'current',
    folderClassification: query.folderClassification ?? 'current',
    statuses,
    flowTypes:
      query.includeInternal === false ? (flowTypes ?? allFlowTypes).filter((type) => type === 'external') : flowTypes,
    tokenIds: list('tokenIds'),
    assets: list('assets'),
    networkIds: list('networkIds'),
    addressIdLists: lists(listOfId(query.addressId), list('ownAddressIds'), list('addressIds')),
    folderIdLists: lists(listOfId(query.folderId), list('folderIds')),
    counterpartyIdLists: lists(listOfId(query.counterpartyId), list('counterpartyIds')),
    counterpartyGroupIdLists: lists(listOfId(query.counterpartyGroupId), list('counterpartyGroupIds')),
    counterpartyAddressIds: list('counterpartyAddressIds'),
    categories: list('categories'),
    categoryKeys: list('categoryKeys'),
    categoryFields: readFieldConditions(query.categoryField),
    initiatorIds: list('initiatorIds'),
    approvalPolicyIds: list('approvalPolicyIds'),
    feePayerIds: list('feePayerIds'),
    feeKinds: listAmong('feeKinds', query.feeKinds, feeKinds),
    minimumAmount,
    maximumAmount,
    operationIds: null,
  }
}

/** The parameters of a query that are lists of any texts. */
type ListName = {
  [Name in keyof FilterInput]-?: NonNullable<FilterInput[Name]> extends string[] ? Name : never
}[keyof FilterInput]

const isId = new RegExp(idPattern)

/** Reads a list of known values. @throws as `listOf`; 400 for a value that is not in `allowed` */
export function listAmong<Value extends string>(
  field: string,
  texts: string[] | undefined,
  allowed: readonly Value[],
): Value[] | null {
  const values = listOf(field, texts)
  const known = values?.filter((value): value is Value => (allowed as readonly string[]).includes(value)) ?? null
  if (known?.length !== values?.length) throw badRequest(field, `must be of ${allowed.join(', ')}`)
  return known
}

/**
 * Returns the values of a list: each parameter may hold several, separated by commas.
 *
 * @throws 400 for an empty value, and for more values than a report accepts
 */
function listOf(field: string, texts: string[] | undefined): string[] | null {
  if (texts === undefined) return null
  const values = texts.flatMap((text) => text.split(','))
  if (values.some((value) => value === '')) throw badRequest(field, 'must not have an empty value')
  const distinct = [...new Set(values)]
  if (distinct.length > listValuesMax) throw badRequest(field, `must not have more than ${listValuesMax} values`)
  return distinct
}

/** @throws 400 for a malformed condition, or for more of them than a report accepts */
function readFieldConditions(texts: string[] | undefined): FieldCondition[] {
  const conditions = listOf('categoryField', texts) ?? []
  if (conditions.length > fieldConditionsMax) {
    throw badRequest('categoryField', `must not have more than ${fieldConditionsMax} conditions`)
  }
  return conditions.map(readFieldCondition)
}

/** Reads a condition `key:value|value`. A value may contain colons, but no commas and no bars. */
function readFieldCondition(text: string): FieldCondition {
  const colon = text.indexOf(':')
  const values = text.slice(colon + 1).split('|')
  if (colon < 1 || values.some((value) => value === '')) {
    throw badRequest('categoryField', 'must be of the form key:value, with | between several values of a key')
  }
  return { key: text.slice(0, colon), values }
}

/** Returns the history query that lists the operations of a report, for the filters that history has a parameter for. */
function drilldownOf(query: FilterInput, filter: OperationFilter): Record<string, string> {
  const single = (list: string[] | null | undefined) => (list?.length === 1 ? list[0] : undefined)
  const slug = single(filter.networkIds)
  const wanted: Record<string, string | undefined> = {
    ...historyBounds(filter.interval),
    userId: query.userId,
    // History reads a whole folder by default; a report reads only the part of the caller.
    includeShared: filter.scope.viewer.readsAll ? undefined : String(query.includeShared ?? false),
    statuses: filter.statuses?.join(),
    network: slug === undefined || isId.test(slug) ? undefined : slug,
    addressId: single(filter.addressIdLists[0]),
    folderId: single(filter.folderIdLists[0]),
    tokenId: single(filter.tokenIds),
    asset: single(filter.assets),
    flowType: single(filter.flowTypes),
    counterpartyId: single(filter.counterpartyIdLists[0]),
    counterpartyGroupId: single(filter.counterpartyGroupIdLists[0]),
    counterpartyAddressId: single(filter.counterpartyAddressIds),
    category: single(filter.categories ?? filter.categoryKeys),
  }
  return Object.fromEntries(Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Returns the header of the answer, the same for every report. */
export function toHeader(request: ReportRequest): Static<typeof ReportHeader> {
  const { type, timezone, baseCurrency, filter, now } = request
  return {
    id: newId(now),
    type,
    from: filter.interval.from.toISOString(),
    to: filter.interval.to.toISOString(),
    timezone,
    dateBasis: filter.dateBasis,
    baseCurrency,
    classificationMode: filter.counterpartyClassification,
    dataCutoff: now.toISOString(),
    schemaVersion: '1',
    generatedAt: now.toISOString(),
    generatedById: filter.scope.viewer.userId,
  }
}

/** The definition of a report in the catalogue: everything that its JSON, its file and its background export need. */
type ReportDefinition<
  Type extends string,
  Query extends TSchema,
  Answer extends TSchema,
  Request extends ReportRequest,
> = {
  /** The name of the report in paths, exports and file names. */
  type: Type
  operationId: string
  summary: string
  description: string
  query: Query
  answer: Answer
  /** Components that the answer refers to and that no earlier report of the catalogue declares. */
  components?: readonly TSchema[]
  /**
   * Parses the parameters, in the same way for JSON, files and the background.
   *
   * @throws 400 naming the parameter, 403 when a caller who is not an administrator names another user
   */
  prepare(type: Type, member: Member, query: Static<Query>, now: Date): Request
  build(db: Db, request: Request): Promise<Static<Answer>>
  /** The conversion of the answer to a document, where the schema is not enough or the answer is too long for memory. */
  document?: {
    blocks?: Readonly<Record<string, BlockLayout>>
    /** The block of the main table, which a CSV of a single table contains: a file instead of an archive. */
    mainBlock?: string
    lead?(report: ReportContent['report'], words: Words): Lead
    /** Passes the content to `use`; its streams can be read until `use` returns. Without it the whole answer is built. */
    open?<Result>(db: Db, request: Request, use: (content: ReportContent) => Promise<Result>): Promise<Result>
  }
}

/** The parts of pages besides the tables of a report: lines of the title block, facts, and the way from opening to closing. */
export type Lead = { block: Fact[]; facts: Fact[]; lead: Table }

/** Any report of the catalogue. */
export type Report = ReportDefinition<string, TSchema, TSchema, ReportRequest>

/** The layout of the block of an answer with this name in a document, beyond its schema. */
export type BlockLayout = {
  title?: string
  /** The column to show first. */
  firstColumn?: string
  /** Columns that are omitted in PDF, because other columns of the row hold the same. */
  omittedInPrint?: readonly string[]
  /** Members that no file shows, because columns that depend on the answer show them. */
  omitted?: readonly string[]
  /** The columns in PDF, in place of those that are not omitted; one of them may show the extra columns too. */
  printed?: readonly (PrintedColumn & { hasExtra?: boolean })[]
  /** True if the block describes the answer and is not a table. */
  isOmitted?: boolean
  /** The place on pages, and the rows that pages show, as `Table` has them. */
  printedAt?: Table['printedAt']
  isPrinted?: Table['isPrinted']
}

/** A column that is in no schema, because it depends on the answer. */
export type ExtraColumn = Column & { read(item: Record<string, unknown>): Cell }

/** The source of a document. */
export type ReportContent = {
  /** The answer; blocks that are streamed may be missing. */
  report: { report: Static<typeof ReportHeader> } & Record<string, unknown>
  /** The rows of a block that is too long for memory. */
  streams?: Record<string, AsyncIterable<object>>
  /** Columns of blocks beyond those of their schema. */
  columns?: Record<string, ExtraColumn[]>
  /** The number of rows, an estimate when they are streamed; counted when it is left out. */
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
