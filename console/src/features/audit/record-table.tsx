import type { AuditRecord } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Named } from '../../ui/avatar.tsx'
import { type Column, DataTable, type More } from '../../ui/data-table.tsx'
import type { Log } from './queries.ts'
import { actionWords, nounWord } from './words.ts'

type RecordTableProps = {
  log: Log
  records: readonly AuditRecord[]
  more: More
  onOpen: (record: AuditRecord) => void
}

export function RecordTable({ log, records, more, onOpen }: RecordTableProps) {
  const columns: Column<AuditRecord>[] = [
    {
      id: 'at',
      header: t('When'),
      className: 'md:whitespace-nowrap',
      cell: (record) => (
        <button type="button" className="text-left text-accent underline" onClick={() => onOpen(record)}>
          <time title={formatTimeInFull(record.createdAt)}>{formatTime(record.createdAt)}</time>
        </button>
      ),
    },
    { id: 'who', header: t('Who'), cell: (record) => <Actor record={record} /> },
    { id: 'what', header: t('What'), cell: ({ action }) => actionWords(action) },
    { id: 'target', header: t('Subject'), cell: (record) => <Target log={log} record={record} /> },
    {
      id: 'seal',
      header: t('Seal'),
      align: 'end',
      cell: ({ sealSequence }) =>
        sealSequence === null ? <span className="text-quiet">{t('soon')}</span> : sealSequence,
    },
  ]
  return <DataTable caption={t('Records')} columns={columns} rows={records} rowKey={({ id }) => id} more={more} />
}

export function Actor({ record: { actor, actorId } }: { record: AuditRecord }) {
  if (actorId === null) return <span className="text-quiet">{t('The service')}</span>
  if (actor === null) return <span className="code">{actorId}</span>
  return <Named {...actor} />
}

/** The target of a record, as a link where it has a page. */
export function Target({ log, record: { targetType, targetId, details } }: { log: Log; record: AuditRecord }) {
  const name = nounWord(targetType)
  const after = details.after as { name?: unknown; code?: unknown } | undefined
  const called = [after?.name, after?.code, details.name, details.label, details.email].find(
    (id) => typeof id === 'string',
  )
  const text = called === undefined ? name : `${name} ${called}`
  const path = log === 'platform' || targetId === null ? null : pathOf(log.code, targetType, targetId)
  if (path === null) return text
  return (
    <Link to={path as '/'} className="underline decoration-line underline-offset-4 hover:decoration-accent">
      {text}
    </Link>
  )
}

function pathOf(code: string, type: string, id: string): string | null {
  const pages: Record<string, string> = {
    transfer: `transfers/${id}`,
    deposit: `deposits/${id}`,
    approval_request: `approvals/request/${id}`,
    payout: `approvals/payout/${id}`,
    address: `addresses/${id}`,
    counterparty: `address-book/${id}`,
    policy: `policies/${id}`,
    policy_group: 'people',
    membership: 'people',
    invitation: 'people',
    service_token: 'people',
    category: `categories/${id}`,
  }
  const page = pages[type]
  return page === undefined ? null : `/v/${code}/${page}`
}
