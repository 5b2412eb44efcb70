import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { csvOf } from '../../lib/csv-columns.ts'
import { t } from '../../lib/language.ts'
import { useMappedFile } from '../../lib/mapped-file.ts'
import { useRecipientCheck } from '../../lib/recipient-check.ts'
import { saveBlob } from '../../lib/save-file.ts'
import { Button } from '../../ui/button.tsx'
import { FileDrop } from '../../ui/file-drop.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { MapColumns } from '../../ui/map-columns.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { structureQuery } from '../addresses/queries.ts'
import { ImportGrid } from './import-grid.tsx'
import { type ImportField, type ImportRow, importColumns, isImportable, judgeRows, networkOf } from './import-rows.ts'
import { importRows } from './import-send.ts'
import { forgetBook } from './write.ts'

const rowsMax = 2_000
const fields = Object.keys(importColumns) as ImportField[]

const required: readonly ImportField[] = ['name', 'address']

/** Reads a file of names and addresses, shows the problem of each row, and imports the good rows. */
export function ImportPage({ code }: { code: string }) {
  const structure = useQuery(structureQuery(code))
  const [rows, setRows] = useState<ImportRow[] | null>(null)
  const mapped = useMappedFile<ImportField>({
    ...{ key: 'imports', aliases: importColumns, required, rowsMax },
    onRows: (read) => setRows(read.map((row, index) => ({ ...row, number: index + 2, refusal: null, isDone: false }))),
  })
  const { file, fault, read, forget } = mapped
  if (file === null) return <Start fault={fault} onFile={read} />
  if (rows === null) return <MapColumns mapped={mapped} words={wordsOf()} required={required} />
  const leftOut = file.lines[0]!.filter((_, index) => !Object.values(file.mapping).includes(index))
  const another = () => {
    forget()
    setRows(null)
  }
  return (
    <DetailState query={structure}>
      {structure.data && (
        <>
          {leftOut.length > 0 && (
            <p className="mb-3 rounded-md bg-warn-soft p-3 text-warn">
              {t('These columns are left out: {names}', { names: leftOut.join(', ') })}
            </p>
          )}
          <Review
            code={code}
            networks={structure.data.networks.map(({ slug }) => slug)}
            rows={rows}
            setRows={setRows}
            another={another}
            toColumns={() => setRows(null)}
          />
        </>
      )}
    </DetailState>
  )
}

const wordsOf = (): Record<ImportField, string> => ({
  name: t('Name'),
  kind: t('Kind'),
  network: t('Network'),
  address: t('Address'),
  label: t('Label'),
  description: t('Note'),
})

function Start({ fault, onFile }: { fault: string | null; onFile: (file: File) => void }) {
  const template = () => {
    const example = [
      'Acme Supplies',
      'company',
      'ethereum',
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      'Invoices',
      '',
    ]
    saveBlob(new Blob([csvOf([fields, example])], { type: 'text/csv' }), 'address-book.csv')
  }
  return (
    <Card>
      <FileDrop label={t('A CSV file with names and addresses')} accept=".csv,text/csv" onFile={onFile} />
      {fault !== null && (
        <p role="alert" className="mb-3 text-bad">
          {fault}
        </p>
      )}
      <p className="mb-3 text-quiet">
        {t(
          'Columns in any order, with commas or semicolons. Rows of the same name become one entry with several addresses. Nothing is imported before you have seen it.',
        )}
      </p>
      <Button onClick={template}>{t('Download a template')}</Button>
    </Card>
  )
}

type ReviewProps = {
  code: string
  networks: string[]
  rows: ImportRow[]
  setRows: (rows: ImportRow[]) => void
  another: () => void
  toColumns: () => void
}

function Review({ code, networks, rows, setRows, another, toColumns }: ReviewProps) {
  const [withLookAlikes, setWith] = useState(false)
  const [progress, setProgress] = useState<number | null>(null)
  const [waiting, setWaiting] = useState<string[]>([])
  const [fault, setFault] = useState<unknown>(null)
  const { find, error: unchecked } = useRecipientCheck(
    code,
    rows.map((row) => ({ network: networkOf(row, networks), address: row.address })),
  )
  const judged = judgeRows(rows, { networks, find })
  const ready = judged.filter((entry) => isImportable(entry, withLookAlikes)).map(({ row }) => row)
  const run = async () => {
    setProgress(0)
    const { done, refusals, error, waiting: requests } = await importRows(code, ready, networks, setProgress)
    setRows(
      rows.map((row) => ({
        ...row,
        isDone: row.isDone || done.has(row.number),
        refusal: refusals.get(row.number) ?? row.refusal,
      })),
    )
    setFault(
      error ??
        (refusals.size > 0 ? new Error(t('Rows were refused; those of the same fifty entries wait for them.')) : null),
    )
    setWaiting((before) => [...before, ...requests])
    setProgress(null)
    forgetBook(code)
  }
  return (
    <>
      <Problem error={fault ?? unchecked} />
      {waiting.length > 0 && <Waiting code={code} requests={waiting} />}
      <ImportGrid
        judged={judged}
        networks={networks}
        setRow={(row) => setRows(rows.map((other) => (other.number === row.number ? row : other)))}
      />
      <div className="sticky bottom-16 mt-4 flex flex-wrap items-center gap-4 rounded-lg border border-line bg-paper p-4 md:bottom-0">
        <Button
          look="primary"
          busy={progress !== null}
          onClick={run}
          disabledBecause={ready.length === 0 ? t('No row can be imported as it is.') : null}
        >
          {t('{count, plural, one {Import # row} other {Import # rows}}', { count: ready.length })}
        </Button>
        {progress !== null && <span role="status">{t('{count} done', { count: progress })}</span>}
        {judged.some(({ verdict }) => verdict === 'look-alike') && (
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={withLookAlikes}
              onChange={({ target }) => setWith(target.checked)}
            />
            {t('also the look-alikes: I have compared them')}
          </label>
        )}
        <Button look="quiet" onClick={toColumns}>
          {t('Columns of the file …')}
        </Button>
        <Button look="quiet" onClick={another}>
          {t('Another file')}
        </Button>
      </div>
    </>
  )
}

function Waiting({ code, requests }: { code: string; requests: string[] }) {
  return (
    <div role="status" className="mb-4 rounded-lg border border-line bg-accent-soft p-4">
      <p className="mb-2 font-semibold text-accent">{t('Imported entries wait for approval')}</p>
      <ul className="flex flex-wrap gap-x-4">
        {requests.map((id, index) => (
          <li key={id}>
            <Link to={`/v/${code}/approvals/request/${id}` as '/'} className="text-accent underline">
              {t('Request {number}', { number: index + 1 })}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
