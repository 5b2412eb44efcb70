import { addressScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { PageOf, Ref } from '../../../http/schema.ts'
import { byCreation, pageOf, toPage } from '../../../lib/cursor.ts'
import { badRequest, forbidden } from '../../../lib/errors.ts'
import { sequenceOfId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { parseBounds, parseDay, parseTimestamp } from '../../../lib/period.ts'
import { positionOf, toAccount, toEntry, toPastBalance, toTotal, toUsdTotal } from './present.ts'
import {
  type AccountKey,
  findAccount,
  findEntryAt,
  listAccounts,
  listStatement,
  listTotals,
  type StatementAccount,
} from './queries.ts'
import { Balances, BalancesQuery, EntriesQuery, LedgerEntry, PastBalance, PastBalanceQuery } from './schema.ts'

export function ledgerRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Ledger', { access: 'member', scopes: { reads: 'read' } })

  api.get('getBalances', '/vaults/:code/balances', {
    summary: 'Get balances',
    description:
      'Totals per token, and a page of accounts; `summary=true` returns only the totals. A member reads the balances ' +
      'of their own addresses, with `includeShared` also of those shared with them, administrators and auditors those of the ' +
      'whole vault. `purpose` filters the accounts only.',
    errors: ['administrator_required'],
    querystring: BalancesQuery,
    answers: { 200: Balances },
    handler: async (db, { member, query, now }) => {
      const scope = addressScopeOf(member, { includeShared: query.includeShared })
      const isVaultLevel = query.purpose === 'external' || query.purpose === 'adjustment'
      if (isVaultLevel && !member.readsAll)
        throw forbidden(
          'administrator_required',
          'Only administrators and auditors may read the accounts of the vault itself',
        )
      const filter = { addressId: query.addressId ?? null, token: query.token ?? null }
      const sums = await listTotals(db, scope, filter, now)
      const summary = { vaultId: scope.vaultId, totals: sums.map(toTotal), ...toUsdTotal(sums) }
      if (query.summary === true) return summary
      const options = { ...pageOf(query), ...filter, purpose: query.purpose ?? null }
      const rows = await listAccounts(db, scope, options)
      const { items, nextCursor } = toPage(rows, options.limit, byCreation, toAccount)
      return { ...summary, accounts: items, nextCursor }
    },
  })

  api.get('listLedgerEntries', '/vaults/:code/ledger/entries', {
    summary: 'List ledger entries',
    description:
      'The entries of one address and token, newest first, each with the resulting balance. `purpose` is `available` by default.',
    querystring: EntriesQuery,
    answers: { 200: PageOf(Ref(LedgerEntry)) },
    handler: async (db, { member, query }) => {
      const { addressId, tokenId, purpose = 'available' } = query
      const bounds = parseBounds(query)
      const account = await getAccount(db, member, { addressId, tokenId, purpose })
      const { after, limit } = pageOf(query)
      const before = after === null ? null : { createdAt: after.createdAt, sequence: readSequence(after.id) }
      const rows = await listStatement(db, { ...bounds, accountNumber: account.number, before, limit })
      return toPage(rows, limit, positionOf, (row) => toEntry(row, account))
    },
  })

  api.get('getPastBalance', '/vaults/:code/ledger/balance', {
    summary: 'Get a past balance',
    description:
      'The exact balance of an address and token at a moment, at a cost that does not depend on the number of entries.',
    querystring: PastBalanceQuery,
    answers: { 200: PastBalance },
    handler: async (db, { member, query, now }) => {
      const { addressId, tokenId, purpose = 'available' } = query
      const at = query.at === undefined ? now : readMoment(query.at)
      const account = await getAccount(db, member, { addressId, tokenId, purpose })
      return toPastBalance(await findEntryAt(db, account.number, at), at, account)
    },
  })
}

async function getAccount(db: Db, member: Member, key: AccountKey): Promise<StatementAccount> {
  return orNotFound(await findAccount(db, visibleScopeOf(member), key), 'Account')
}

/** Reads a moment. A day means its last instant, as at the end of a date range. */
function readMoment(text: string): Date {
  const day = parseDay(text)
  const moment = day === null ? parseTimestamp(text) : new Date(day.getTime() + 86_399_999)
  if (moment === null) throw badRequest('at', 'must be an ISO 8601 timestamp with a zone, or a day as YYYY-MM-DD')
  return moment
}

/** Reads the sequence of a cursor. A forged cursor must not reach PostgreSQL as a number that it cannot hold. */
function readSequence(id: string): string {
  const sequence = sequenceOfId(id)
  if (sequence >= 2n ** 63n) throw badRequest('cursor', 'is not a cursor of this list', 'invalid_cursor')
  return sequence.toString()
}
