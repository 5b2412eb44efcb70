import { createContext, useContext, useMemo } from 'react'
import { kinds, kindWords } from '../../lib/counterparty-kinds.ts'
import { t } from '../../lib/language.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { CheckedDetails } from '../../ui/checked-recipient.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { type ImportField, type ImportRow, type Judged, kindOf, networkOf, type Verdict } from './import-rows.ts'

type Editing = { networks: readonly string[]; setRow: (row: ImportRow) => void }
const EditingContext = createContext<Editing>(null!)

type Props = Editing & { judged: Judged[] }

/** The rows of a file with the problem of each row. The reader corrects them in place. */
export function ImportGrid({ judged, networks, setRow }: Props) {
  const columns = useMemo(gridColumns, [])
  return (
    <div className="mb-4 rounded-lg border border-line bg-paper p-2">
      <EditingContext value={{ networks, setRow }}>
        <DataTable
          caption={t('Rows of the file')}
          columns={columns}
          rows={judged}
          rowKey={({ row }) => String(row.number)}
          estimate={60}
        />
      </EditingContext>
    </div>
  )
}

function gridColumns(): Column<Judged>[] {
  return [
    { id: 'number', header: t('Line'), cell: ({ row }) => <span className="figures text-quiet">{row.number}</span> },
    { id: 'verdict', header: t('Verdict'), cell: (judged) => <VerdictCell judged={judged} />, className: 'md:w-52' },
    { id: 'name', header: t('Name'), cell: ({ row }) => <Cell row={row} field="name" label={t('Name')} /> },
    { id: 'kind', header: t('Kind'), cell: ({ row }) => <KindCell row={row} /> },
    { id: 'network', header: t('Network'), cell: ({ row }) => <NetworkCell row={row} /> },
    {
      id: 'address',
      header: t('Address'),
      cell: ({ row }) => <Cell row={row} field="address" label={t('Address')} isCode />,
      className: 'md:min-w-[25rem]',
    },
    { id: 'label', header: t('Label'), cell: ({ row }) => <Cell row={row} field="label" label={t('Label')} /> },
  ]
}

const inputClass = 'w-full min-w-28 rounded border border-line bg-paper px-2 py-1 read-only:border-transparent'

type CellProps = { row: ImportRow; field: ImportField; label: string; isCode?: boolean }

function Cell({ row, field, label, isCode = false }: CellProps) {
  const { setRow } = useContext(EditingContext)
  return (
    <input
      className={`${inputClass} ${isCode ? 'code' : ''}`}
      aria-label={t('{field} in line {number}', { field: label, number: row.number })}
      spellCheck={false}
      value={row[field]}
      readOnly={row.isDone}
      onChange={({ target }) => setRow({ ...row, [field]: target.value.trimStart(), refusal: null })}
      onBlur={({ target }) => row.isDone || setRow({ ...row, [field]: target.value.trim() })}
    />
  )
}

function KindCell({ row }: { row: ImportRow }) {
  const words = kindWords()
  return (
    <Choice
      row={row}
      field="kind"
      label={t('Kind')}
      value={kindOf(row.kind) ?? row.kind}
      options={kinds.map((kind) => [kind, words[kind]] as const)}
    />
  )
}

function NetworkCell({ row }: { row: ImportRow }) {
  const { networks } = useContext(EditingContext)
  return (
    <Choice
      row={row}
      field="network"
      label={t('Network')}
      value={networkOf(row, networks)}
      options={networks.map((slug) => [slug, slug] as const)}
    />
  )
}

type ChoiceProps = {
  row: ImportRow
  field: ImportField
  label: string
  value: string
  options: readonly (readonly [value: string, word: string])[]
}

/** Offers the value of the file as a choice, even if it is unknown. */
function Choice({ row, field, label, value, options }: ChoiceProps) {
  const { setRow } = useContext(EditingContext)
  const isKnown = options.some(([option]) => option === value)
  return (
    <select
      className={inputClass}
      aria-label={t('{field} in line {number}', { field: label, number: row.number })}
      value={isKnown ? value : row[field]}
      disabled={row.isDone}
      onChange={({ target }) => setRow({ ...row, [field]: target.value, refusal: null })}
    >
      {!isKnown && <option value={row[field]}>{row[field]}</option>}
      {options.map(([option, word]) => (
        <option key={option} value={option}>
          {word}
        </option>
      ))}
    </select>
  )
}

const tones: Partial<Record<Verdict, Tone>> = {
  good: 'good',
  done: 'good',
  known: 'neutral',
  'look-alike': 'warn',
  checking: 'neutral',
}

function VerdictCell({ judged: { verdict, checked, earlier, row } }: { judged: Judged }) {
  return (
    <span className="inline-grid gap-1">
      <span>
        <Badge tone={tones[verdict] ?? 'bad'}>{verdictWords()[verdict]}</Badge>
      </span>
      {verdict === 'duplicate' ? (
        <span className="text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">{earlier?.name}</span>
      ) : (
        <CheckedDetails address={row.address} checked={checked} />
      )}
      {verdict === 'refused' && <span className="text-[0.8125rem] text-bad">{row.refusal}</span>}
    </span>
  )
}

function verdictWords(): Record<Verdict, string> {
  return {
    good: t('good'),
    done: t('imported'),
    refused: t('refused'),
    'no name': t('name is missing'),
    'no kind': t('kind is unknown'),
    'no network': t('network is unknown'),
    'no address': t('not an address'),
    'wrong checksum': t('a character is mistyped'),
    checking: t('is being compared …'),
    duplicate: t('twice in the file'),
    known: t('in the address book'),
    'look-alike': t('resembles another address'),
  }
}
