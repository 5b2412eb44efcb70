import type { Deposit, LedgerVerification, Pages, UncreditedEvent } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'

export function reconciliationQuery(code: string) {
  return queryOptions({
    queryKey: ['books', code, 'reconciliation'],
    queryFn: ({ signal }) => vaultOf(code).ledger.getReconciliation({ signal }),
    // The query asks the wallet service about every address. It must not run again whenever the window gets focus.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
}

export type AccountFilter = { addressId: string; tokenId: string; purpose: 'available' | 'reserved' }

export function entriesQuery(code: string, account: AccountFilter) {
  return infiniteQueryOptions({
    queryKey: ['books', code, 'entries', account],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .ledger.listEntries({ ...account, limit: 100, ...cursorOf(pageParam) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: account.addressId !== '' && account.tokenId !== '',
  })
}

export function pastBalanceQuery(code: string, account: AccountFilter, at: string | null) {
  return queryOptions({
    queryKey: ['books', code, 'balance', account, at],
    queryFn: ({ signal }) => vaultOf(code).ledger.getPastBalance({ ...account, at: at! }, { signal }),
    enabled: at !== null && account.addressId !== '' && account.tokenId !== '',
  })
}

export function quarantineQuery(code: string) {
  return infiniteQueryOptions({
    queryKey: ['books', code, 'quarantined'],
    queryFn: ({ signal, pageParam }) => {
      const list = vaultOf(code).deposits.list(
        { outcome: 'quarantined', limit: 50, ...cursorOf(pageParam) },
        { signal },
      )
      return (list as Pages<Deposit>).page()
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

export function uncreditedQuery(code: string, outcome: 'unmatched' | 'ignored') {
  return infiniteQueryOptions({
    queryKey: ['books', code, outcome],
    queryFn: ({ signal, pageParam }) => {
      const list = vaultOf(code).deposits.list({ outcome, limit: 50, ...cursorOf(pageParam) }, { signal })
      return (list as unknown as Pages<UncreditedEvent>).page()
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** Reads a verification again and again until it has ended. */
export function verificationQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['books', code, 'verification', id],
    queryFn: ({ signal }) => vaultOf(code).ledger.getVerification(id, { signal }),
    enabled: id !== '',
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOpen(data) ? 2_000 : false),
  })
}

export function isOpen({ status }: LedgerVerification): boolean {
  return status === 'queued' || status === 'running'
}

function cursorOf(cursor: string) {
  return cursor === '' ? {} : { cursor }
}
