import { formatUsd } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'
import { linePath, Plot } from './plot.tsx'

type ValuePoint = { label: string; value: string | null }

/** The number of points up to which each is marked. */
const markedMax = 40

/**
 * A value in USD over time, with gaps where it is unknown. The chart rounds its numbers; the table beside it has the
 * exact figures.
 */
export default function ValueChart({ points, name }: { points: readonly ValuePoint[]; name: string }) {
  const values = points.map(({ value }) => (value === null ? null : Number(value)))
  const known = values.filter((value) => value !== null)
  const compact = formatter(Intl.NumberFormat, {
    notation: 'compact',
    style: 'currency',
    currency: 'USD',
    maximumSignificantDigits: 4,
  })
  return (
    <Plot
      labels={points.map(({ label }) => label)}
      values={known.length === 0 ? [0] : known}
      height={220}
      format={(value) => compact.format(value)}
      told={(index) => {
        const value = points[index]!.value
        return [`${name}: ${value === null ? '–' : formatUsd(value)}`]
      }}
    >
      {(places) => (
        <>
          <path d={linePath(values, places)} fill="none" stroke="var(--accent)" strokeWidth={2} />
          {values.map((value, index) =>
            value === null || points.length >= markedMax ? null : (
              <circle key={index} cx={places.x(index)} cy={places.y(value)} r={3} fill="var(--accent)" />
            ),
          )}
        </>
      )}
    </Plot>
  )
}
