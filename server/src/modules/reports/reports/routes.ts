import type { FastifyRequest } from 'fastify'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, route } from '../../../http/route.ts'
import { Ref, VaultParams } from '../../../http/schema.ts'
import { encodeCursor, pageOf, toPage } from '../../../lib/cursor.ts'
import { fileAnswers } from '../exports/answer.ts'
import { fileMediaTypes } from '../files/formats.ts'
import { buildAccountStatement } from './account-statement.ts'
import { buildApprovalActivity } from './approval-activity.ts'
import { buildActivity } from './build-activity.ts'
import { buildAssetMovement } from './build-asset-movement.ts'
import { buildCategoryAnalytics } from './category-analytics.ts'
import { buildExceptions, toException } from './exceptions.ts'
import { prepare } from './prepare.ts'
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

const tag = 'Reports'

export function reportRoutes(app: App, deps: Deps): void {
  const asFile = fileAnswers(deps)
  /**
   * Builds a report when it is the turn of its caller. The parameters are checked before, so that a faulty request waits
   * for nothing, and read again then, so that `dataCutoff` is the time of the snapshot.
   */
  const inTurn = async <Query, Wanted, Report>(
    request: FastifyRequest & { query: Query },
    read: (db: Db, member: Member, query: Query, now: Date) => Promise<Wanted>,
    build: (db: Db, wanted: Wanted) => Promise<Report>,
  ): Promise<Report> => {
    const member = memberOf(request)
    const prepared = (db: Db) => read(db, member, request.query, deps.clock())
    await prepared(deps.db)
    return deps.slowReads.inTurn(member.userId, async (db) => build(db, await prepared(db)))
  }

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
      return inTurn(request, prepare.address_activity, buildActivity)
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
      return inTurn(request, prepare.counterparty_activity, buildActivity)
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
      return inTurn(request, prepare.counterparty_group_activity, buildActivity)
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
      return inTurn(request, prepare.transaction_activity, buildActivity)
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
      return inTurn(request, prepare.asset_movement, buildAssetMovement)
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
      const { last, ...statement } = await inTurn(request, prepare.account_statement, (db, wanted) =>
        buildAccountStatement(db, wanted, pageOf(request.query)),
      )
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
      const page = pageOf(request.query)
      const { rows, ...report } = await inTurn(request, prepare.operations_exceptions, (db, wanted) =>
        buildExceptions(db, wanted, page),
      )
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
      return inTurn(request, prepare.approval_activity, buildApprovalActivity)
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
      return inTurn(request, prepare.category_analytics, buildCategoryAnalytics)
    },
  )
}
