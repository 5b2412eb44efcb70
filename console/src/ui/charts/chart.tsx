import { lazy, Suspense } from 'react'
import { t } from '../../lib/language.ts'

/** One curve or one row of bars. The colour is a variable of the style sheet. */
export type Series = { key: string; label: string; color: string }
/** `values` are decimal strings; null is a gap, and never zero. */
export type Point = { label: string; values: Readonly<Record<string, string | null>> }

export type ChartProps = {
  title: string
  kind: 'area' | 'bars'
  series: readonly Series[]
  points: readonly Point[]
  format: (value: string) => string
}

const Drawing = lazy(() => import('./drawing.tsx'))

/** A chart, drawn when the page is there already, with its figures as a table. */
export function Chart(props: ChartProps) {
  return (
    <figure>
      <figcaption className="sr-only">{props.title}</figcaption>
      <div aria-hidden className="h-52">
        <Suspense>
          <Drawing {...props} />
        </Suspense>
      </div>
      <details className="mt-2 text-[0.875rem]">
        <summary className="min-h-9 cursor-pointer py-1.5 text-quiet">{t('As a table')}</summary>
        <Figures {...props} />
      </details>
    </figure>
  )
}

function Figures({ title, series, points, format }: ChartProps) {
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
