import type { HistoryItem } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { t } from '../../lib/language.ts'
import { formatRecent, formatTimeInFull, formatTimeLeft } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { SignedAmount } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable, type More } from '../../ui/data-table.tsx'
import { OperationStatus, operationTitle } from '../../ui/operation-status.tsx'

/** Draws the category of a row, which can be changed there. */
export type TagCell = (item: HistoryItem) => ReactNode

type ActivityTableProps = {
  code: string
  items: readonly HistoryItem[]
  more?: More
  tagCell: TagCell
  /** Shows the details of an operation beside the list; without it a row leads to their page. */
  onOpen?: (item: HistoryItem) => void
  /** True if there is room for the most important columns only. */
  isNarrow: boolean
}

export function ActivityTable({ code, items, more, tagCell, onOpen, isNarrow }: ActivityTableProps) {
  const columns = useMemo(() => {
    const columns = columnsOf(code, tagCell, onOpen)
    return isNarrow ? columns.filter(({ id }) => id !== 'tag' && id !== 'when') : columns
  }, [code, tagCell, onOpen, isNarrow])
  return (
    <div className="rounded-lg border border-line bg-paper">
      <DataTable
        caption={t('Activity, newest first')}
        columns={columns}
        rows={items}
        rowKey={({ operationType, id }) => `${operationType}-${id}`}
        estimate={78}
        {...(more === undefined ? {} : { more })}
      />
    </div>
  )
}

function columnsOf(code: string, tagCell: TagCell, onOpen: ActivityTableProps['onOpen']): Column<HistoryItem>[] {
  return [
    {
      id: 'what',
      header: t('Operation'),
      cell: (item) => <What {...{ code, item, onOpen }} />,
      className: 'min-w-0',
    },
    {
      id: 'when',
      header: t('When'),
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} title={formatTimeInFull(createdAt)} className="whitespace-nowrap text-quiet">
          {formatRecent(createdAt)}
        </time>
      ),
    },
    { id: 'tag', header: t('Category'), cell: tagCell },
    { id: 'status', header: t('Status'), cell: (item) => <Status item={item} /> },
    { id: 'amount', header: t('Amount'), align: 'end', cell: (item) => <SignedAmount item={item} /> },
  ]
}

type WhatProps = { code: string; item: HistoryItem; onOpen: ActivityTableProps['onOpen'] }

function What({ code, item, onOpen }: WhatProps) {
  const isIn = item.direction === 'in'
  const other = isIn ? item.fromAddress?.address : item.toAddress
  const otherLabel = isIn ? item.fromAddressLabel : item.toAddressLabel
  const icon = isIn ? 'icon-in before:text-good' : 'icon-out before:text-quiet'
  return (
    <div className={`icon relative min-w-0 pl-7 text-left before:absolute before:top-1 before:left-0 ${icon}`}>
      <Link
        to={item.operationType === 'transfer' ? '/v/$code/transfers/$id' : '/v/$code/deposits/$id'}
        params={{ code, id: item.id }}
        className="font-medium hover:text-accent hover:underline"
        onClick={(event) => {
          if (onOpen === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          onOpen(item)
        }}
      >
        {operationTitle(item)}
      </Link>
      <div className="mt-0.5 text-[0.8125rem] text-quiet">
        {other === undefined ? t('Sender unknown') : <Address address={other} name={otherLabel} />}
      </div>
      <Remarks item={item} />
    </div>
  )
}

function Status({ item: { status, expiresAt, approvalsCount, approvalThreshold } }: { item: HistoryItem }) {
  if (status !== 'awaiting_approval') return <OperationStatus status={status} />
  const votes = t('{approvalsCount} of {approvalThreshold}', { approvalsCount, approvalThreshold })
  return (
    <div className="grid justify-items-start gap-1 max-md:justify-items-end">
      <OperationStatus status={status} />
      {expiresAt === null ? (
        <span className="text-[0.8125rem] text-quiet">{votes}</span>
      ) : (
        <span className="text-[0.8125rem] text-quiet" title={formatTimeInFull(expiresAt)}>
          {votes} · {t('{time} left', { time: formatTimeLeft(expiresAt) })}
        </span>
      )}
    </div>
  )
}

function Remarks({ item }: { item: HistoryItem }) {
  const addressLabel = item.direction === 'out' ? item.fromAddressLabel : item.toAddressLabel
  const { paymentPurpose, tags, note } = item.metadata
  const remarks = [
    addressLabel === null
      ? null
      : item.direction === 'out'
        ? t('from {label}', { label: addressLabel })
        : t('at {label}', { label: addressLabel }),
    item.initiator === null ? null : t('ordered by {name}', { name: item.initiator.name }),
    paymentPurpose ?? note,
  ].filter((remark) => remark !== null)
  return (
    <>
      <div className="line-clamp-2 text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">{remarks.join(' · ')}</div>
      {(tags.length > 0 || item.warnings.length > 0) && <Marks tags={tags} warnings={item.warnings} />}
    </>
  )
}

function Marks({ tags, warnings }: { tags: readonly string[]; warnings: HistoryItem['warnings'] }) {
  return (
    <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-[0.8125rem] text-quiet">
      {tags.map((tag) => (
        <span key={tag} className="rounded-sm border border-line px-1.5">
          {tag}
        </span>
      ))}
      {warnings.includes('look_alike') && (
        <Badge tone="bad">{t('Looks like an address you know, and is another')}</Badge>
      )}
      {warnings.includes('dust') && <Badge tone="warn">{t('Dust')}</Badge>}
    </div>
  )
}
