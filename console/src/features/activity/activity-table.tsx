import type { HistoryItem } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
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

type ActivityTableProps = { code: string; items: readonly HistoryItem[]; more?: More; tagCell: TagCell }

export function ActivityTable({ code, items, more, tagCell }: ActivityTableProps) {
  const columns = useMemo(() => columnsOf(code, tagCell), [code, tagCell])
  return (
    <div className="rounded-lg border border-line bg-paper">
      <DataTable
        caption={t('Activity, newest first')}
        columns={columns}
        rows={items}
        rowKey={({ operationType, id }) => `${operationType}-${id}`}
        estimate={70}
        {...(more === undefined ? {} : { more })}
      />
    </div>
  )
}

function columnsOf(code: string, tagCell: TagCell): Column<HistoryItem>[] {
  return [
    { id: 'what', header: t('Operation'), cell: (item) => <What code={code} item={item} />, className: 'min-w-0' },
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

function What({ code, item }: { code: string; item: HistoryItem }) {
  const isIn = item.direction === 'in'
  const Icon = isIn ? ArrowDownLeft : ArrowUpRight
  const other = isIn ? item.fromAddress?.address : item.toAddress
  const otherLabel = isIn ? item.fromAddressLabel : item.toAddressLabel
  return (
    <div className="flex min-w-0 gap-3 text-left">
      <Icon size={18} aria-hidden className={`mt-0.5 shrink-0 ${isIn ? 'text-good' : 'text-quiet'}`} />
      <div className="min-w-0">
        <OperationLink code={code} item={item} />
        <div className="mt-0.5 text-[0.8125rem]">
          {other === undefined ? (
            <span className="text-quiet">{t('Sender unknown')}</span>
          ) : (
            <Address address={other} name={otherLabel} />
          )}
        </div>
        <Remarks item={item} />
      </div>
    </div>
  )
}

/** Leads to the operation; its words say what happened. */
function OperationLink({ code, item }: { code: string; item: HistoryItem }) {
  const to = item.operationType === 'transfer' ? '/v/$code/transfers/$id' : '/v/$code/deposits/$id'
  return (
    <Link to={to} params={{ code, id: item.id }} className="font-medium hover:text-accent hover:underline">
      {operationTitle(item)}
    </Link>
  )
}

function Status({ item: { status, expiresAt, approvalsCount, approvalThreshold } }: { item: HistoryItem }) {
  return (
    <div className="grid justify-items-start gap-1 max-md:justify-items-end">
      <OperationStatus status={status} />
      {status === 'awaiting_approval' && (
        <span className="text-[0.8125rem] whitespace-nowrap text-quiet">
          {t('{approvalsCount} of {approvalThreshold}', { approvalsCount, approvalThreshold })}
          {expiresAt !== null && (
            <span title={formatTimeInFull(expiresAt)}> · {t('{time} left', { time: formatTimeLeft(expiresAt) })}</span>
          )}
        </span>
      )}
    </div>
  )
}

function Remarks({ item }: { item: HistoryItem }) {
  const own = item.direction === 'out' ? item.fromAddressLabel : item.toAddressLabel
  const { paymentPurpose, tags, note } = item.metadata
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[0.8125rem] text-quiet">
      {own !== null && (
        <span>{item.direction === 'out' ? t('from {label}', { label: own }) : t('at {label}', { label: own })}</span>
      )}
      {item.initiator !== null && <span>{t('ordered by {name}', { name: item.initiator.name })}</span>}
      {paymentPurpose !== null && <span className="[overflow-wrap:anywhere]">{paymentPurpose}</span>}
      {note !== null && paymentPurpose === null && (
        <span className="line-clamp-1 [overflow-wrap:anywhere]">{note}</span>
      )}
      {tags.map((tag) => (
        <span key={tag} className="rounded-sm border border-line px-1.5">
          {tag}
        </span>
      ))}
      {item.warnings.includes('look_alike') && (
        <Badge tone="bad">{t('Looks like an address you know, and is another')}</Badge>
      )}
      {item.warnings.includes('dust') && <Badge tone="warn">{t('Dust')}</Badge>}
    </div>
  )
}
