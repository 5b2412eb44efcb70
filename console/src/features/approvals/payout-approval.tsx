import type { Payout, PayoutRow } from '@strongroom/sdk'
import {
  type Authority,
  describePayout,
  expectedOf,
  type OrderDescription,
  type PayoutDescription,
  type Waiting,
} from '@strongroom/sdk/signing'
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { t } from '../../lib/language.ts'
import { nameOf } from '../../lib/session.ts'
import type { Shown } from '../../lib/sign-votes.ts'
import { signingAuthorityQuery } from '../../lib/signing-authority.ts'
import { formatTime, formatTimeLeft } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { DetailState, ListState, Skeleton } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SignedHead, SignedQuantity, SignedRow, SignedSums } from '../../ui/signed-order.tsx'
import { Decide } from './decide.tsx'
import { payoutQuery, payoutRowsQuery } from './queries.ts'
import { Votes } from './votes.tsx'
import { statusOf } from './words.ts'

/** Everything that an approver needs to decide on a payout: its sums, and every payment. */
export function PayoutApproval({ code, id }: { code: string; id: string }) {
  const query = useQuery(payoutQuery(code, id))
  return (
    <Page title={t('Approve a payout')}>
      <DetailState query={query}>
        {query.data !== undefined && <Decision code={code} payout={query.data} />}
      </DetailState>
    </Page>
  )
}

function Decision({ code, payout }: { code: string; payout: Payout }) {
  const query = useInfiniteQuery(payoutRowsQuery(code, payout.id))
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const { hasNextPage, isFetching, isError, fetchNextPage } = query
  // A vote is about all rows, and the signed document is computed from the shown rows.
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])
  const isSigned = rows[0]?.payload.expiresAt !== undefined
  const authority = useQuery({ ...signingAuthorityQuery(code), enabled: isSigned })
  const signed = useMemo(
    () => (isSigned && !hasNextPage && authority.data !== undefined ? decoded(payout.id, rows, authority.data) : null),
    [isSigned, hasNextPage, authority.data, payout.id, rows],
  )
  const shown = signed instanceof Error ? null : signed
  const { approvers, payloadHash, expiresAt } = payout
  const { word, tone } = statusOf(payout.status)
  const isOpen = payout.status === 'awaiting_approval'
  // A vote before this would not be signed. Where the authority cannot be loaded, only a veto is left, and its voter is
  // told that it is not signed.
  const isLoading = query.isPending || (hasNextPage && !isError) || (isSigned && authority.isPending)
  const sums = isSigned ? shown !== null && <SignedSums shown={shown.description} /> : <Sums payout={payout} />
  const head = shown !== null && <SignedHead shown={shown.description} name={nameOf(payout.initiator)} />
  return (
    <>
      <Problem error={signed instanceof Error ? signed : null} />
      <Card>
        <div className="mb-3 flex flex-wrap items-start justify-between gap-3">
          <div>
            <p className="font-semibold">{payout.name ?? t('Payout')}</p>
            {sums}
          </div>
          <Badge tone={tone}>{word}</Badge>
        </div>
        {head}
        <Facts
          facts={[
            [t('Asked by'), isSigned ? null : nameOf(payout.initiator)],
            [t('Purpose'), payout.paymentPurpose],
            [t('Asked at'), formatTime(payout.createdAt)],
            [t('Time left'), isOpen && expiresAt !== null ? formatTimeLeft(expiresAt) : null],
            [t('Halted because'), payout.haltReason],
          ]}
        />
        <p className="mt-3 text-[0.8125rem] text-quiet">
          {t('Your vote is bound to exactly these payments:')}{' '}
          <span className="code [overflow-wrap:anywhere]">{payloadHash}</span>
        </p>
      </Card>
      <Rows query={query} rows={rows} signed={shown?.description ?? null} />
      <Votes
        requirements={payout.approvalRequirements}
        approvers={approvers}
        quorumReachable={payout.quorumReachable}
      />
      {isLoading ? (
        <Skeleton rows={1} />
      ) : (
        <Decide
          subject={{ kind: 'payout', code, shown: payout, isOpen, toSign: toSignOf(payout, rows, shown) }}
          summary={
            <>
              <p className="font-semibold">{payout.name ?? t('Payout')}</p>
              {sums}
              {head}
            </>
          }
        />
      )}
    </>
  )
}

function decoded(
  payoutId: string,
  rows: readonly PayoutRow[],
  authority: Authority | null,
): Shown<PayoutDescription> | Error {
  try {
    const orders = rows.map(({ payload }) => payload)
    return { description: describePayout(payoutId, orders, authority), authority }
  } catch (error) {
    return error as Error
  }
}

/** Returns null until all rows are shown as they are signed. */
function toSignOf(
  { id, rowsCount }: Payout,
  rows: PayoutRow[],
  signed: Shown<PayoutDescription> | null,
): Waiting | null {
  if (signed === null || rows.length !== rowsCount) return null
  const { description, authority } = signed
  const orders = rows.map(({ payload }) => payload)
  return { kind: 'payout', payoutId: id, orders, expected: { authority, rows: description.rows.map(expectedOf) } }
}

function Sums({ payout: { sums } }: { payout: Payout }) {
  return (
    <ul>
      {sums.map((sum) => (
        <li key={sum.tokenId} className="flex flex-wrap items-baseline gap-x-3">
          <span className="text-2xl font-semibold">
            <Amount decimal={sum.amountDecimal} unit={sum.asset} />
          </span>
          <Usd value={sum.usdValue} className="text-quiet" />
          <span className="text-quiet">
            {t('{count, plural, one {# payment} other {# payments}} on {network}', {
              count: sum.rowsCount,
              network: sum.network,
            })}
          </span>
        </li>
      ))}
    </ul>
  )
}

type RowsQuery = UseInfiniteQueryResult<InfiniteData<{ items: PayoutRow[] }>>
/** A row with its part of the signed document; null where votes are not signed. */
type ShownRow = PayoutRow & { signed: OrderDescription | null }

type RowsProps = { query: RowsQuery; rows: PayoutRow[]; signed: PayoutDescription | null }

function Rows({ query, rows, signed }: RowsProps) {
  const columns = useMemo(() => columnsOfRows(signed), [signed])
  const shown = useMemo(() => rows.map((row, i) => ({ ...row, signed: signed?.rows[i] ?? null })), [rows, signed])
  return (
    <Card title={t('Payments')}>
      <ListState query={query} isEmpty={false} empty={null}>
        <DataTable caption={t('Payments')} columns={columns} rows={shown} rowKey={keyOf} more={query} />
      </ListState>
    </Card>
  )
}

const keyOf = ({ transferId }: PayoutRow) => transferId

function columnsOfRows(shown: PayoutDescription | null): Column<ShownRow>[] {
  return [
    { id: 'row', header: t('Row'), align: 'end', cell: ({ row }) => row },
    { id: 'externalId', header: t('Your id'), cell: ({ externalId }) => <span className="code">{externalId}</span> },
    {
      id: 'to',
      header: t('To'),
      cell: ({ toAddress, counterpartyName, signed }) => (
        <Address address={signed?.recipient ?? toAddress} name={counterpartyName ?? t('Not in the address book')} />
      ),
    },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: ({ amountDecimal, asset, signed }) =>
        signed === null ? <Amount decimal={amountDecimal} unit={asset} /> : <SignedQuantity quantity={signed.amount} />,
    },
    ...(shown === null ? [] : [signedColumn(shown)]),
    { id: 'purpose', header: t('Purpose'), cell: ({ paymentPurpose }) => paymentPurpose ?? '–' },
    {
      id: 'status',
      header: t('Status'),
      cell: ({ status, failureReason, haltReason }) => {
        const { word, tone } = statusOf(status)
        return (
          <span title={failureReason ?? haltReason ?? undefined}>
            <Badge tone={tone}>{word}</Badge>
          </span>
        )
      },
    },
  ]
}

function signedColumn(shown: PayoutDescription): Column<ShownRow> {
  return {
    id: 'signed',
    header: t('Also signed'),
    cell: ({ signed }) => signed !== null && <SignedRow row={signed} shown={shown} />,
  }
}
