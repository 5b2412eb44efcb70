import { type ReactNode, useState } from 'react'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'
import type { Column } from './data-table.tsx'

type SmallTableProps<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** Number of rows that are shown before "Show all". */
  first?: number
  empty?: string
  /** The last row, for sums: one cell per column. */
  footer?: readonly ReactNode[]
}

/** A complete table of figures, such as a block of a report. On a phone each row is a card. */
export function SmallTable<Row>({ caption, columns, rows, rowKey, first = 10, empty, footer }: SmallTableProps<Row>) {
  const [showsAll, setShowsAll] = useState(false)
  if (rows.length === 0) return <p className="text-quiet">{empty ?? t('Nothing in this period.')}</p>
  const shown = showsAll ? rows : rows.slice(0, first)
  return (
    <>
      {/* biome-ignore lint/a11y/noRedundantRoles: a table that is drawn as cards loses its role. */}
      <table role="table" className="w-full border-collapse max-md:block">
        <caption className="sr-only">{caption}</caption>
        <thead className="max-md:sr-only">
          <tr className="border-b border-line text-left text-[0.8125rem] text-quiet">
            {columns.map(({ id, header, align, className }) => (
              <th key={id} scope="col" className={`px-3 py-2 font-medium ${end(align)} ${className ?? ''}`}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="max-md:block">
          {shown.map((row) => (
            <tr key={rowKey(row)} className="border-b border-line last:border-0 max-md:block max-md:py-3">
              {columns.map(({ id, header, cell, align, className }) => (
                <td key={id} data-label={header} className={`${cellClass} ${end(align)} ${className ?? ''}`}>
                  <div className="min-w-0">{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {footer !== undefined && (
          <tfoot className="font-medium max-md:block">
            <tr className="border-t-2 border-line max-md:block max-md:py-3">
              {columns.map(({ id, header, align, className }, index) => (
                <td key={id} data-label={header} className={`${cellClass} ${end(align)} ${className ?? ''}`}>
                  {footer[index]}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {shown.length < rows.length && (
        <Button look="quiet" className="mt-2" onClick={() => setShowsAll(true)}>
          {t('Show all {count}', { count: rows.length })}
        </Button>
      )}
    </>
  )
}

const cellClass =
  'px-3 py-2 max-md:flex max-md:justify-between max-md:gap-4 max-md:px-0 max-md:py-1 max-md:text-right ' +
  'max-md:before:shrink-0 max-md:before:text-left max-md:before:text-quiet max-md:before:content-[attr(data-label)]'

const end = (align: 'start' | 'end' | undefined) => (align === 'end' ? 'md:text-right' : '')
