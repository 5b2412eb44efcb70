import { memberOf } from '../../access/caller.ts'
import type { Deps } from '../../deps.ts'
import { type App, route } from '../../http/route.ts'
import { Ref, VaultParams } from '../../http/schema.ts'
import { encodeCursor, pageOf, toPage } from '../../lib/cursor.ts'
import { badRequest } from '../../lib/errors.ts'
import { fileAnswers } from '../report-exports/answer.ts'
import { fileMediaTypes } from '../report-exports/formats.ts'
import { buildAccountStatement } from './account-statement.ts'
import { buildApprovalActivity } from './approval-activity.ts'
import { type ExceptionKind, exceptionKinds } from './blocks/data-quality.ts'
import { buildActivity } from './build-activity.ts'
import { buildAssetMovement } from './build-asset-movement.ts'
import { buildCategoryAnalytics } from './category-analytics.ts'
import { buildExceptions, toException } from './exceptions.ts'
import { listOf, readActivityRequest, readFilteredRequest } from './request.ts'
import {
  AccountStatementQuery,
  AccountStatementReport,
  AddressActivityQuery,
  AddressActivityReport,
  ApprovalActivityQuery,
  ApprovalActivityReport,
  AssetMovementReport,
  CategoryAnalyticsQuery,
  CategoryAnalyticsReport,
  CounterpartyActivityQuery,
  CounterpartyActivityReport,
  CounterpartyGroupActivityQuery,
  CounterpartyGroupActivityReport,
  OperationsExceptionsQuery,
  OperationsExceptionsReport,
  TransactionActivityQuery,
  TransactionActivityReport,
} from './schema.ts'
import {
  requireAddress,
  requireCounterparty,
  requireCounterpartyGroup,
  requireFolder,
  requireKnownFields,
} from './subjects.ts'

const tag = 'Reports'

export function reportRoutes(app: App, deps: Deps): void {
  const asFile = fileAnswers(deps)

  app.get(
    '/vaults/:code/reports/address_activity',
    {
      ...route({
        operationId: 'reportAddressActivity',
        summary: 'What happened on an address or in a folder',
        description:
          'Exactly one of `addressId` and `folderId` says what it is about. A member reads their own operations, with `includeShared` those on addresses shared with them too; an administrator reads the whole vault.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: AddressActivityQuery,
        answers: { 200: Ref(AddressActivityReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('address_activity'),
    },
    async (request) => {
      const { query } = request
      const { addressId, folderId } = query
      if ((addressId === undefined) === (folderId === undefined)) {
        throw badRequest('addressId', 'exactly one of addressId and folderId must be given')
      }
      const wanted = readActivityRequest('address_activity', memberOf(request), query, deps.clock())
      if (addressId !== undefined) await requireAddress(deps.db, wanted.scope, addressId)
      if (folderId !== undefined) await requireFolder(deps.db, wanted.scope, folderId)
      await requireKnownFields(deps.db, wanted.filter)
      return buildActivity(deps.db, wanted)
    },
  )

  app.get(
    '/vaults/:code/reports/counterparty_activity',
    {
      ...route({
        operationId: 'reportCounterpartyActivity',
        summary: 'What happened with a counterparty',
        description: 'The blocks of the address activity report over the operations with one counterparty.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: CounterpartyActivityQuery,
        answers: { 200: Ref(CounterpartyActivityReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('counterparty_activity'),
    },
    async (request) => {
      const wanted = readActivityRequest('counterparty_activity', memberOf(request), request.query, deps.clock())
      await requireCounterparty(deps.db, wanted.scope, request.query.counterpartyId)
      await requireKnownFields(deps.db, wanted.filter)
      return buildActivity(deps.db, wanted)
    },
  )

  app.get(
    '/vaults/:code/reports/counterparty_group_activity',
    {
      ...route({
        operationId: 'reportCounterpartyGroupActivity',
        summary: 'What happened with the counterparties of a group',
        description:
          'The blocks of the address activity report over the operations with counterparties that are in the group now.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: CounterpartyGroupActivityQuery,
        answers: { 200: Ref(CounterpartyGroupActivityReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('counterparty_group_activity'),
    },
    async (request) => {
      const wanted = readActivityRequest('counterparty_group_activity', memberOf(request), request.query, deps.clock())
      await requireCounterpartyGroup(deps.db, wanted.scope, request.query.counterpartyGroupId)
      await requireKnownFields(deps.db, wanted.filter)
      return buildActivity(deps.db, wanted)
    },
  )

  app.get(
    '/vaults/:code/reports/transaction_activity',
    {
      ...route({
        operationId: 'reportTransactionActivity',
        summary: 'What happened in all',
        description: 'The blocks of the address activity report over everything that the caller may read.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: TransactionActivityQuery,
        answers: { 200: Ref(TransactionActivityReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('transaction_activity'),
    },
    async (request) => {
      const wanted = readActivityRequest('transaction_activity', memberOf(request), request.query, deps.clock())
      await requireKnownFields(deps.db, wanted.filter)
      return buildActivity(deps.db, wanted)
    },
  )

  app.get(
    '/vaults/:code/reports/asset_movement',
    {
      ...route({
        operationId: 'reportAssetMovement',
        summary: 'How balances came about',
        description:
          'The blocks of the address activity report, and per asset its opening balance, what moved it, and its closing balance, from the ledger.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: TransactionActivityQuery,
        answers: { 200: Ref(AssetMovementReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('asset_movement'),
    },
    async (request) => {
      const wanted = readActivityRequest('asset_movement', memberOf(request), request.query, deps.clock())
      await requireKnownFields(deps.db, wanted.filter)
      return buildAssetMovement(deps.db, wanted)
    },
  )

  app.get(
    '/vaults/:code/reports/account_statement',
    {
      ...route({
        operationId: 'reportAccountStatement',
        summary: 'Every posting of an address in one token',
        description:
          'Opening, every posting with the balances it left, oldest first, and closing. Filters of categories choose lines; balances stay those of the whole account.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: AccountStatementQuery,
        answers: { 200: Ref(AccountStatementReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('account_statement'),
    },
    async (request) => {
      const { query } = request
      const { addressId, tokenId } = query
      const read = readFilteredRequest('account_statement', memberOf(request), query, deps.clock())
      await requireAddress(deps.db, read.scope, addressId)
      await requireKnownFields(deps.db, read.filter)
      const page = pageOf(query)
      const { last, ...statement } = await buildAccountStatement(deps.db, { ...read, addressId, tokenId }, page)
      return { ...statement, nextCursor: last === null ? null : encodeCursor(last) }
    },
  )

  app.get(
    '/vaults/:code/reports/operations_exceptions',
    {
      ...route({
        operationId: 'reportOperationsExceptions',
        summary: 'The operations behind each figure of data quality',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: OperationsExceptionsQuery,
        answers: { 200: Ref(OperationsExceptionsReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('operations_exceptions'),
    },
    async (request) => {
      const { query } = request
      const read = readFilteredRequest('operations_exceptions', memberOf(request), query, deps.clock())
      const kinds = readKinds(listOf('exceptions', query.exceptions))
      await requireKnownFields(deps.db, read.filter)
      const page = pageOf(query)
      const { rows, ...report } = await buildExceptions(deps.db, { ...read, kinds }, page)
      const position = (row: (typeof rows)[number]) => ({ createdAt: row.created_at, id: row.id })
      return { ...report, ...toPage(rows, page.limit, position, toException) }
    },
  )

  app.get(
    '/vaults/:code/reports/approval_activity',
    {
      ...route({
        operationId: 'reportApprovalActivity',
        summary: 'Votes on transfers, by policy and by approver',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: ApprovalActivityQuery,
        answers: { 200: Ref(ApprovalActivityReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('approval_activity'),
    },
    async (request) => {
      const read = readFilteredRequest('approval_activity', memberOf(request), request.query, deps.clock())
      await requireKnownFields(deps.db, read.filter)
      return buildApprovalActivity(deps.db, read)
    },
  )

  app.get(
    '/vaults/:code/reports/category_analytics',
    {
      ...route({
        operationId: 'reportCategoryAnalytics',
        summary: 'What the assignments of a category say',
        description:
          'Per field of the category its values with counts and amounts; numbers and currencies are summed by unit or currency, never over two.',
        tag,
        access: 'member',
        params: VaultParams,
        querystring: CategoryAnalyticsQuery,
        answers: { 200: Ref(CategoryAnalyticsReport) },
        files: fileMediaTypes,
      }),
      preHandler: asFile('category_analytics'),
    },
    async (request) => {
      const { categoryKey } = request.query
      const read = readFilteredRequest('category_analytics', memberOf(request), request.query, deps.clock())
      await requireKnownFields(deps.db, read.filter)
      return buildCategoryAnalytics(deps.db, { ...read, categoryKey })
    },
  )
}

function readKinds(names: string[] | null): readonly ExceptionKind[] {
  if (names === null) return exceptionKinds
  return names.map((name) => {
    const kind = exceptionKinds.find((known) => known === name)
    if (kind === undefined) throw badRequest('exceptions', `must be of ${exceptionKinds.join(', ')}`)
    return kind
  })
}
