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
import { lazy, Suspense, useEffect, useMemo } from 'react'
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
import { isAlarming, statusOf } from './words.ts'

/** The holds and warnings are loaded only where there are some. */
const RecipientAlarms = lazy(async () => ({ default: (await import('./recipient-alarms.tsx')).RecipientAlarms }))
const LeftOutBefore = lazy(async () => ({ default: (await import('../../ui/left-out.tsx')).LeftOutBefore }))
const alarmsShownMax = 5

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
  const alarming = rows.filter(isAlarming)
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
      {payout.replaces !== null && (
        <Suspense>
          <LeftOutBefore rows={payout.replaces.leftOut} />
        </Suspense>
      )}
      {alarming.length > 0 && (
        <Suspense>
          <RecipientAlarms code={code} payments={alarming.slice(0, alarmsShownMax)} />
        </Suspense>
      )}
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
          subject={{
            ...{ kind: 'payout', code, shown: payout, isOpen, toSign: toSignOf(payout, rows, shown) },
            heldBecause: heldBecause(rows.filter(({ holds = [] }) => holds.length > 0)),
            notApprovedBecause: rows.some(({ isExposed }) => isExposed)
              ? t('An address that pays sends nothing now')
              : null,
          }}
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

/** Names the held rows, the first ones of many. A vote is about all rows, so that one of them stops it. */
function heldBecause(held: readonly PayoutRow[]): string | null {
  if (held.length === 0) return null
  const more = held.length > alarmsShownMax ? ' …' : ''
  const numbers = held.slice(0, alarmsShownMax).map(({ row }) => row)
  return t(
    '{count, plural, one {Row {rows} is held} other {Rows {rows} are held}}: nobody can vote on this payout now.',
    {
      count: held.length,
      rows: numbers.join(', ') + more,
    },
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
      cell: ({ signed, ...row }) => (
        <div className="min-w-0">
          <Address address={signed?.recipient ?? row.toAddress} name={nameOfRecipient(row)} />
          <Signs row={row} />
        </div>
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

const nameOfRecipient = ({ recipient, counterpartyName }: PayoutRow) =>
  (recipient ? recipient.counterparty?.name : counterpartyName) ?? t('Not in the address book')

/** The signs of a row that is stopped, or whose recipient is new or resembles a known address. */
function Signs({ row: { holds = [], isExposed, recipient } }: { row: PayoutRow }) {
  return (
    <span className="flex flex-wrap gap-1 max-md:justify-end">
      {holds.length > 0 && <Badge tone="bad">{t('Held')}</Badge>}
      {isExposed && <Badge tone="bad">{t('Sends nothing now')}</Badge>}
      {recipient?.isLookAlike && <Badge tone="bad">{t('Looks like another known address')}</Badge>}
      {recipient?.isFirstPayment && <Badge tone="warn">{t('Never paid before')}</Badge>}
    </span>
  )
}

function signedColumn(shown: PayoutDescription): Column<ShownRow> {
  return {
    id: 'signed',
    header: t('Also signed'),
    cell: ({ signed }) => signed !== null && <SignedRow row={signed} shown={shown} />,
  }
}
