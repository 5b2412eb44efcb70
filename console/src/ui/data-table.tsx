import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useKeys } from '../lib/hotkeys.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

export type Column<Row> = {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** 'end' for figures. */
  align?: 'start' | 'end'
  /** Classes of the cell, for example a width. */
  className?: string
}

/** The part of an infinite query that a table needs to load more. */
export type More = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }

/** Up to this number, all rows are drawn, so that the browser's own search finds them. */
const fewRows = 50

type DataTableProps<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  more?: More
  /** The height of a row in pixels before it is measured. */
  estimate?: number
}

/**
 * A table that draws only the visible rows, however many are loaded. Rows load as the reader comes near the end. On a
 * phone each row is a card. `j` and `k` move between the links of the rows.
 */
export function DataTable<Row extends object>({
  caption,
  columns,
  rows,
  rowKey,
  more,
  estimate = 53,
}: DataTableProps<Row>) {
  const table = useRef<HTMLTableElement>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const offset = useOffset(body)
  const first = rows.length === 0 ? null : rowKey(rows[0]!)
  // A new function would make the virtualizer place all rows again.
  const getItemKey = useCallback((index: number) => rowKey(rows[index]!), [rows, rowKey])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => estimate,
    overscan: rows.length <= fewRows ? rows.length : 1,
    scrollMargin: offset,
    getItemKey,
  })
  const shown = virtualizer.getVirtualItems()
  const last = shown.at(-1)?.index ?? -1
  useEffect(() => {
    if (more?.hasNextPage === true && !more.isFetchingNextPage && last >= rows.length - 20) more.fetchNextPage()
  }, [more, last, rows.length])
  useSteadyColumns(table, shown.length === 0 ? null : first, columns.length)
  useRowKeys(body, virtualizer.scrollToIndex, rows.length)

  const above = (shown[0]?.start ?? offset) - offset
  const below = virtualizer.getTotalSize() - ((shown.at(-1)?.end ?? offset) - offset)
  return (
    <>
      {/* Roles are set explicitly, because a table that is drawn as cards loses them. */}
      <table
        ref={table}
        role="table"
        aria-rowcount={more?.hasNextPage === true ? -1 : rows.length + 1}
        className="w-full border-collapse max-md:block"
      >
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup" className="max-md:sr-only">
          <tr role="row" aria-rowindex={1} className="border-b border-line text-left text-[0.8125rem] text-quiet">
            {columns.map(({ id, header, align, className }) => (
              <th
                key={id}
                role="columnheader"
                scope="col"
                className={`px-3 py-2 font-medium ${end(align)} ${className ?? ''}`}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup" className="max-md:block">
          <Space height={above} />
          {shown.map(({ index, key }) => (
            <Line key={key as string} {...{ index, columns }} row={rows[index]!} measure={virtualizer.measureElement} />
          ))}
          <Space height={below} />
        </tbody>
      </table>
      {more?.hasNextPage === true && (
        <p className="flex items-center gap-3 p-3 text-quiet">
          {t('{count} loaded, more below', { count: rows.length })}
          <Button busy={more.isFetchingNextPage} onClick={() => more.fetchNextPage()}>
            {t('Load more')}
          </Button>
        </p>
      )}
    </>
  )
}

const cellClass =
  'px-3 py-2 md:wrap-break-word max-md:flex max-md:empty:hidden max-md:justify-between max-md:gap-4 max-md:py-1 max-md:text-right ' +
  'max-md:[overflow-wrap:anywhere] ' +
  'max-md:*:min-w-0 max-md:before:shrink-0 max-md:before:text-quiet max-md:before:content-[attr(data-label)]'

type LineProps<Row> = {
  index: number
  row: Row
  columns: readonly Column<Row>[]
  measure: (row: HTMLTableRowElement | null) => void
}

/** A row is drawn again only when it changes. While the reader scrolls, only rows that come into view are drawn. */
const Line = memo(function Line<Row>({ index, row, columns, measure }: LineProps<Row>) {
  return (
    <tr
      ref={measure}
      data-index={index}
      role="row"
      aria-rowindex={index + 2}
      className="border-b border-line hover:bg-accent-soft/40 max-md:block max-md:py-3"
    >
      {columns.map(({ id, header, cell, align, className }) => (
        <td key={id} role="cell" data-label={header} className={`${cellClass} ${end(align)} ${className ?? ''}`}>
          {cell(row)}
        </td>
      ))}
    </tr>
  )
}) as <Row>(props: LineProps<Row> & { key: string }) => ReactNode

const end = (align: 'start' | 'end' | undefined) => (align === 'end' ? 'md:text-right' : '')

/** Takes the space of the rows that are out of view. */
function Space({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true" className="max-md:block">
      <td className="block p-0" ref={(cell) => void cell?.style.setProperty('height', `${height}px`)} />
    </tr>
  )
}

/**
 * Returns the distance of the rows from the top of the page. It is measured when the browser reports a resize, and has
 * the layout anyway.
 */
function useOffset(body: React.RefObject<HTMLTableSectionElement | null>): number {
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    const look = () => body.current && setOffset(body.current.getBoundingClientRect().top + window.scrollY)
    look()
    const observer = new ResizeObserver(look)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [body])
  return offset
}

/**
 * Keeps the widths of the columns that the first visible rows give them. Otherwise the widths would follow the visible
 * rows, the heights of the rows would follow the widths, and the set of visible rows would follow the heights, without
 * end.
 * @param first the key of the first row; null while no row is drawn
 */
function useSteadyColumns(
  table: React.RefObject<HTMLTableElement | null>,
  first: string | null,
  columns: number,
): void {
  useLayoutEffect(() => {
    const { tHead, style, clientWidth } = table.current!
    const heads = [...tHead!.rows[0]!.cells]
    style.tableLayout = 'auto'
    for (const head of heads) head.style.width = ''
    // On a phone rows are cards.
    if (first === null || getComputedStyle(table.current!).display === 'block') return
    const widths = heads.map((head) => head.getBoundingClientRect().width)
    for (const [i, head] of heads.entries()) head.style.width = `${(100 * widths[i]!) / clientWidth}%`
    style.tableLayout = 'fixed'
  }, [table, first, columns])
}

/** Moves the focus by `j` and `k` to the first link of the next or previous row. */
function useRowKeys(
  body: React.RefObject<HTMLTableSectionElement | null>,
  scrollTo: (index: number) => void,
  count: number,
): void {
  const last = useRef<number | null>(null)
  const move = (by: number) => {
    const focused = document.activeElement?.closest('tr[data-index]')?.getAttribute('data-index')
    // The focus may be in the details that were opened from the last row.
    const current = typeof focused === 'string' ? Number(focused) : last.current
    const index = current === null ? 0 : current + by
    if (index < 0 || index >= count) return
    last.current = index
    scrollTo(index)
    requestAnimationFrame(() => {
      body.current?.querySelector<HTMLElement>(`tr[data-index="${index}"] a, tr[data-index="${index}"] button`)?.focus()
    })
  }
  useKeys('j', () => move(1), {}, [count])
  useKeys('k', () => move(-1), {}, [count])
}
