import { addressScopeOf, visibleScopeOf } from '../../../access/address-scope.ts'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { badRequest, forbidden, notFound } from '../../../lib/errors.ts'
import { idOfSequence, sequenceOfId } from '../../../lib/ids.ts'
import { parseBounds, parseDay, parseTimestamp } from '../../../lib/period.ts'
import { adjustBalance } from './adjust.ts'
import { toAccount, toAdjustment, toEntry, toPastBalance, toTotal } from './present.ts'
import { findAccount, findEntryAt, listAccounts, listStatement, listTotals } from './queries.ts'
import { reconcileVault } from './reconcile.ts'
import {
  Adjustment,
  AdjustmentBody,
  Balances,
  BalancesQuery,
  EntriesQuery,
  LedgerEntry,
  PastBalance,
  PastBalanceQuery,
  Reconciliation,
} from './schema.ts'

const tag = 'Ledger'

export function ledgerRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/balances',
    route({
      operationId: 'getBalances',
      summary: 'Balances in total and by account',
      description:
        'A member sees their own addresses and with `includeShared` those shared with them, an administrator the whole vault. `purpose` filters the accounts only.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: BalancesQuery,
      answers: { 200: Ref(Balances) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { query } = request
      const scope = addressScopeOf(member, { includeShared: query.includeShared })
      const isVaultLevel = query.purpose === 'external' || query.purpose === 'adjustment'
      if (isVaultLevel && !member.isAdmin) throw forbidden('Only administrators see the accounts of the vault itself')
      const filter = { addressId: query.addressId ?? null, token: query.token ?? null }
      const totals = (await listTotals(deps.db, scope, filter)).map(toTotal)
      if (query.summary === true) return { vaultId: scope.vaultId, totals }
      const options = { ...pageOf(query), ...filter, purpose: query.purpose ?? null }
      const rows = await listAccounts(deps.db, scope, options)
      const { items, nextCursor } = toPage(
        rows,
        options.limit,
        (row) => ({ createdAt: row.created_at, id: row.id }),
        toAccount,
      )
      return { vaultId: scope.vaultId, totals, accounts: items, nextCursor }
    },
  )

  app.get(
    '/vaults/:code/ledger/entries',
    route({
      operationId: 'listLedgerEntries',
      summary: 'The statement of one address and token',
      description:
        'Every entry of the account, newest first, with the balance it left. `purpose` is available unless given.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: EntriesQuery,
      answers: { 200: PageOf(Ref(LedgerEntry)) },
    }),
    async (request) => {
      const scope = visibleScopeOf(memberOf(request))
      const { addressId, tokenId, purpose = 'available' } = request.query
      const bounds = parseBounds(request.query)
      const account = await findAccount(deps.db, scope, { addressId, tokenId, purpose })
      if (account === null) throw notFound('Account')
      const { after, limit } = pageOf(request.query)
      const rows = await listStatement(deps.db, {
        ...bounds,
        accountNumber: account.number,
        before: after === null ? null : { createdAt: after.createdAt, sequence: readSequence(after.id) },
        limit,
      })
      const position = (row: (typeof rows)[number]) => ({
        createdAt: row.created_at,
        id: idOfSequence(row.created_at, BigInt(row.sequence)),
      })
      return toPage(rows, limit, position, (row) => toEntry(row, { tokenId, purpose, ...account }))
    },
  )

  app.get(
    '/vaults/:code/ledger/balance',
    route({
      operationId: 'getPastBalance',
      summary: 'What an address held at a time',
      description: 'Exact, and as quick for an account with millions of entries as for one with few.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: PastBalanceQuery,
      answers: { 200: Ref(PastBalance) },
    }),
    async (request) => {
      const scope = visibleScopeOf(memberOf(request))
      const { addressId, tokenId, purpose = 'available' } = request.query
      const at = request.query.at === undefined ? deps.clock() : readMoment(request.query.at)
      const account = await findAccount(deps.db, scope, { addressId, tokenId, purpose })
      if (account === null) throw notFound('Account')
      const newest = await findEntryAt(deps.db, account.number, at)
      return toPastBalance(newest, at, { addressId, tokenId, purpose, ...account })
    },
  )

  app.post(
    '/vaults/:code/adjustments',
    route({
      operationId: 'createAdjustment',
      summary: 'Correct what an address holds',
      description:
        'Posts against the adjustment account of the vault; negative down to zero. For opening balances and corrections that no event explains.',
      tag,
      access: 'administrator',
      params: VaultParams,
      body: AdjustmentBody,
      answers: { 201: Ref(Adjustment) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const order = { ...request.body, vaultId: member.vault.id, actorId: member.userId, now: deps.clock() }
        return created(toAdjustment(await adjustBalance(trx, order)))
      })
    },
  )

  app.get(
    '/vaults/:code/ledger/reconciliation',
    route({
      operationId: 'getReconciliation',
      summary: 'The books against themselves and the chain',
      description: 'Recomputes every balance from its entries and asks the wallet service for the balances on chain.',
      tag,
      access: 'administrator',
      params: VaultParams,
      answers: { 200: Ref(Reconciliation) },
    }),
    async (request) => {
      const { vault, userId } = memberOf(request)
      return reconcileVault(deps, vault.id, userId)
    },
  )
}

/** A day is its last instant, as it is where it ends a list. */
function readMoment(text: string): Date {
  const day = parseDay(text)
  const moment = day === null ? parseTimestamp(text) : new Date(day.getTime() + 86_399_999)
  if (moment === null) throw badRequest('at', 'must be an ISO 8601 timestamp with a zone, or a day as YYYY-MM-DD')
  return moment
}

/** A forged cursor must not reach PostgreSQL as a number that it cannot hold. */
function readSequence(id: string): string {
  const sequence = sequenceOfId(id)
  if (sequence >= 2n ** 63n) throw badRequest('cursor', 'is not a cursor of this list')
  return sequence.toString()
}
