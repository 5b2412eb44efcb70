import { type ReactNode, Suspense } from 'react'
import { t } from '../../lib/language.ts'

/** A column of the table. */
export type Series = { key: string; label: string }
/** `values` are decimal strings; null means unknown, and never zero. */
export type Point = { label: string; values: Readonly<Record<string, string | null>> }

type FiguresProps = {
  title: string
  series: readonly Series[]
  points: readonly Point[]
  format: (value: string) => string
}

/** A chart, drawn after the rest of the page, and its figures as a table. */
export function ChartWithTable({ children, ...figures }: FiguresProps & { children: ReactNode }) {
  return (
    <figure>
      <figcaption className="sr-only">{figures.title}</figcaption>
      <div aria-hidden className="min-h-60">
        <Suspense>{children}</Suspense>
      </div>
      <details className="mt-2 text-[0.875rem]">
        <summary className="min-h-9 cursor-pointer py-1.5 text-quiet">{t('As a table')}</summary>
        <Figures {...figures} />
      </details>
    </figure>
  )
}

function Figures({ title, series, points, format }: FiguresProps) {
  return (
    <div className="max-h-72 overflow-auto">
      <table className="w-full">
        <caption className="sr-only">{title}</caption>
        <thead className="text-left text-[0.8125rem] text-quiet">
          <tr>
            <th scope="col" className="py-1 pr-3 font-medium">
              {t('Time')}
            </th>
            {series.map(({ key, label }) => (
              <th key={key} scope="col" className="py-1 pl-3 text-right font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ label, values }, index) => (
            <tr key={index} className="border-t border-line">
              <th scope="row" className="py-1 pr-3 text-left font-normal whitespace-nowrap">
                {label}
              </th>
              {series.map(({ key }) => (
                <td key={key} className="figures py-1 pl-3 text-right">
                  {shown(values[key], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function shown(value: string | null | undefined, format: (value: string) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}
