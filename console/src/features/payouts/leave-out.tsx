import type { Payout, PayoutOrder, PayoutRow } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { t } from '../../lib/language.ts'
import type { Entered } from '../../lib/sign-votes.ts'
import { LeftOut } from '../../ui/left-out.tsx'
import { Problem } from '../../ui/problem.tsx'
import { addressSearchQuery } from '../addresses/queries.ts'
import { ConfirmOrder, Decision, SignedPayout, usePayoutOrder } from './order-payout.tsx'
import { Sums } from './payout-list.tsx'
import { payoutRowsQuery } from './queries.ts'

/** Reads all rows of a payout, page after page; empty until all are there. */
export function useAllRows(code: string, { id, rowsCount }: Payout, enabled: boolean): PayoutRow[] {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...payoutRowsQuery(code, id),
    enabled,
  })
  useEffect(() => {
    if (enabled && hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [enabled, hasNextPage, isFetching, isError, fetchNextPage])
  const rows = data?.pages.flatMap(({ items }) => items) ?? []
  return rows.length === rowsCount ? rows : []
}

export const isRowHeld = ({ holds = [] }: PayoutRow) => holds.length > 0

type Props = { code: string; payout: Payout; rows: PayoutRow[]; back: () => void }

/** Orders the rows that are not held as a payout that takes the place of this one. */
export function LeaveOut({ code, payout, rows, back }: Props) {
  const addresses = useQuery(addressSearchQuery(code, '', 100)).data ?? []
  const rest = rows.filter((row) => !isRowHeld(row))
  const symbolOf = ({ fromAddressId, tokenId, asset }: PayoutRow) =>
    addresses.find(({ id }) => id === fromAddressId)?.balances.find((balance) => balance.tokenId === tokenId)?.symbol ??
    asset
  const entered = rest.map((row): Entered => {
    const { fromAddress, network, toAddress, amountDecimal: amount } = row
    return { fromAddress, network, toAddress, amount, symbol: symbolOf(row) }
  })
  const ordering = usePayoutOrder(code, { order: orderWithout(payout, rest), entered, onRefused: () => {} })
  const { preview, create, shown } = ordering
  const { mutate } = preview
  useEffect(() => mutate(), [mutate])
  return (
    <>
      <p className="mb-2">{t('These are not paid. Their references cannot be used again:')}</p>
      <LeftOut
        rows={rows
          .filter(isRowHeld)
          .map((row) => ({ ...row, name: row.recipient?.counterparty?.name ?? row.counterpartyName }))}
      />
      <p className="mt-4 mb-1">
        {t(
          '{count, plural, one {# payment takes} other {# payments take}} the place of this payout. Everybody votes on it anew: the votes of before do not count.',
          { count: rest.length },
        )}
      </p>
      {preview.data !== undefined && (
        <p className="mb-3 text-2xl font-semibold">
          <Sums sums={preview.data.sums} />
        </p>
      )}
      <Problem error={preview.error ?? create.error} />
      {preview.data !== undefined && <Decision preview={preview.data} />}
      {shown !== null && <SignedPayout shown={shown} />}
      <ConfirmOrder ordering={ordering} back={back} />
    </>
  )
}

function orderWithout({ id, name }: Payout, rest: PayoutRow[]): PayoutOrder {
  return {
    ...(name === null ? {} : { name }),
    replaces: { payoutId: id },
    rows: rest.map(({ externalId, fromAddressId, tokenId, toAddress, amountDecimal, paymentPurpose, note }) => ({
      ...{ externalId, fromAddressId, tokenId, toAddress, amount: amountDecimal },
      ...(paymentPurpose === null ? {} : { paymentPurpose }),
      ...(note === null ? {} : { note }),
    })),
  }
}
