import { createContext, useContext, useMemo } from 'react'
import { t } from '../../lib/language.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { CheckedDetails } from '../../ui/checked-recipient.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { type DraftRow, inFile, type Judged, type PayerChoice, type PayoutField, type Verdict } from './payout-rows.ts'

const SetRowContext = createContext<(row: DraftRow) => void>(null!)

type Props = { judged: Judged[]; choice: PayerChoice; setRow: (row: DraftRow) => void }

/** The rows of the list, to be corrected in place, each with its problem. */
export function PayoutGrid({ judged, choice: { sourceId, tokenId }, setRow }: Props) {
  const columns = useMemo(() => gridColumns(sourceId === inFile, tokenId === inFile), [sourceId, tokenId])
  return (
    <div className="mb-4 rounded-lg border border-line bg-paper p-2">
      <SetRowContext value={setRow}>
        <DataTable
          caption={t('Rows of the file')}
          columns={columns}
          rows={judged}
          rowKey={({ row }) => String(row.number)}
          estimate={60}
        />
      </SetRowContext>
    </div>
  )
}

/** Payer and token are columns where each row has its own. */
function gridColumns(hasPayers: boolean, hasTokens: boolean): Column<Judged>[] {
  const column = (id: PayoutField, header: string, className = ''): Column<Judged> => ({
    id,
    header,
    cell: ({ row }) => <Cell row={row} field={id} label={header} />,
    className,
  })
  return [
    { id: 'number', header: t('Line'), cell: ({ row }) => <span className="figures text-quiet">{row.number}</span> },
    { id: 'verdict', header: t('Verdict'), cell: (judged) => <VerdictCell judged={judged} />, className: 'w-48' },
    column('externalId', t('Reference')),
    column('toAddress', t('To'), 'md:min-w-[25rem]'),
    column('amount', t('Amount')),
    ...(hasTokens ? [column('token', t('Token'))] : []),
    ...(hasPayers ? [column('payer', t('Who pays'))] : []),
    column('paymentPurpose', t('Purpose')),
  ]
}

function Cell({ row, field, label }: { row: DraftRow; field: PayoutField; label: string }) {
  const setRow = useContext(SetRowContext)
  return (
    <input
      className={`w-full min-w-24 rounded border border-line bg-paper px-2 py-1 ${field === 'toAddress' ? 'code' : ''}`}
      aria-label={t('{field} in line {number}', { field: label, number: row.number })}
      spellCheck={false}
      value={row[field]}
      onChange={({ target }) => setRow({ ...row, [field]: target.value.trimStart(), refusal: null })}
    />
  )
}

const tones: Partial<Record<Verdict, Tone>> = {
  known: 'good',
  new: 'warn',
  'paid before': 'warn',
  'look-alike': 'warn',
  checking: 'neutral',
}

function VerdictCell({ judged: { verdict, checked, row } }: { judged: Judged }) {
  const words: Record<Verdict, string> = {
    known: t('in the address book'),
    checking: t('is being compared …'),
    'wrong checksum': t('a character is mistyped'),
    'paid before': t('paid before'),
    new: t('new recipient'),
    'look-alike': t('resembles another address'),
    'no id': t('reference is missing'),
    'same id': t('reference occurs twice'),
    'no address': t('not an address'),
    'no payer': t('payer is unknown'),
    'no token': t('the payer has no such token'),
    'no amount': t('not an amount'),
    'over balance': t('over the balance'),
    refused: t('refused'),
  }
  return (
    <span className="inline-grid gap-1">
      <span>
        <Badge tone={tones[verdict] ?? 'bad'}>{words[verdict]}</Badge>
      </span>
      <CheckedDetails address={row.toAddress} checked={checked} />
      {verdict === 'refused' && <span className="text-[0.8125rem] text-bad">{row.refusal}</span>}
    </span>
  )
}
