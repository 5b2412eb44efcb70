import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import { badRequest } from '../../../lib/errors.ts'
import { exceptionKinds } from './blocks/data-quality.ts'
import type { ExceptionsRequest } from './exceptions.ts'
import { listOf, readActivityRequest, readFilteredRequest } from './request.ts'
import type {
  AccountStatementQuery,
  AddressActivityQuery,
  ApprovalActivityQuery,
  CategoryAnalyticsQuery,
  CounterpartyActivityQuery,
  CounterpartyGroupActivityQuery,
  OperationsExceptionsQuery,
  TransactionActivityQuery,
} from './schema.ts'
import {
  requireAddress,
  requireCounterparty,
  requireCounterpartyGroup,
  requireFolder,
  requireKnownFields,
} from './subjects.ts'

/**
 * What each report is asked for, read and checked: its parameters are right, and the caller sees what it is about. The
 * same for its JSON and for its files.
 *
 * @throws 400 with the field, 403 for somebody else's part, 404 for a subject that the caller does not see
 */
export const prepare = {
  async address_activity(db: Db, member: Member, query: Static<typeof AddressActivityQuery>, now: Date) {
    const { addressId, folderId } = query
    if ((addressId === undefined) === (folderId === undefined)) {
      throw badRequest('addressId', 'exactly one of addressId and folderId must be given')
    }
    const request = readActivityRequest('address_activity', member, query, now)
    if (addressId !== undefined) await requireAddress(db, request.scope, addressId)
    if (folderId !== undefined) await requireFolder(db, request.scope, folderId)
    await requireKnownFields(db, request.filter)
    return request
  },
  async counterparty_activity(db: Db, member: Member, query: Static<typeof CounterpartyActivityQuery>, now: Date) {
    const request = readActivityRequest('counterparty_activity', member, query, now)
    await requireCounterparty(db, request.scope, query.counterpartyId)
    await requireKnownFields(db, request.filter)
    return request
  },
  async counterparty_group_activity(
    db: Db,
    member: Member,
    query: Static<typeof CounterpartyGroupActivityQuery>,
    now: Date,
  ) {
    const request = readActivityRequest('counterparty_group_activity', member, query, now)
    await requireCounterpartyGroup(db, request.scope, query.counterpartyGroupId)
    await requireKnownFields(db, request.filter)
    return request
  },
  async transaction_activity(db: Db, member: Member, query: Static<typeof TransactionActivityQuery>, now: Date) {
    const request = readActivityRequest('transaction_activity', member, query, now)
    await requireKnownFields(db, request.filter)
    return request
  },
  async asset_movement(db: Db, member: Member, query: Static<typeof TransactionActivityQuery>, now: Date) {
    const request = readActivityRequest('asset_movement', member, query, now)
    await requireKnownFields(db, request.filter)
    return request
  },
  async account_statement(db: Db, member: Member, query: Static<typeof AccountStatementQuery>, now: Date) {
    const request = readFilteredRequest('account_statement', member, query, now)
    await requireAddress(db, request.scope, query.addressId)
    await requireKnownFields(db, request.filter)
    return { ...request, addressId: query.addressId, tokenId: query.tokenId }
  },
  async operations_exceptions(db: Db, member: Member, query: Static<typeof OperationsExceptionsQuery>, now: Date) {
    const request = readFilteredRequest('operations_exceptions', member, query, now)
    await requireKnownFields(db, request.filter)
    return { ...request, kinds: readKinds(listOf('exceptions', query.exceptions)) }
  },
  async approval_activity(db: Db, member: Member, query: Static<typeof ApprovalActivityQuery>, now: Date) {
    const request = readFilteredRequest('approval_activity', member, query, now)
    await requireKnownFields(db, request.filter)
    return request
  },
  async category_analytics(db: Db, member: Member, query: Static<typeof CategoryAnalyticsQuery>, now: Date) {
    const request = readFilteredRequest('category_analytics', member, query, now)
    await requireKnownFields(db, request.filter)
    return { ...request, categoryKey: query.categoryKey }
  },
}

/** @throws 400 for a figure that does not exist */
function readKinds(names: string[] | null): ExceptionsRequest['kinds'] {
  if (names === null) return exceptionKinds
  return names.map((name) => {
    const kind = exceptionKinds.find((known) => known === name)
    if (kind === undefined) throw badRequest('exceptions', `must be of ${exceptionKinds.join(', ')}`)
    return kind
  })
}
