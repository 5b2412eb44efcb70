import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { formatUsd } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'

export type ValuePoint = { label: string; value: string | null }

/**
 * A value in USD over time, with gaps where it is unknown. The chart rounds its numbers; the table beside it has the
 * exact figures.
 */
export default function ValueChart({ points, name }: { points: readonly ValuePoint[]; name: string }) {
  const data = points.map(({ label, value }) => ({ label, value: value === null ? null : Number(value) }))
  const compact = formatter(Intl.NumberFormat, {
    notation: 'compact',
    style: 'currency',
    currency: 'USD',
    maximumSignificantDigits: 4,
  })
  return (
    <ResponsiveContainer width="100%" height={220}>
      <LineChart accessibilityLayer={false} data={data} margin={{ top: 8, right: 8, bottom: 0, left: 8 }}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="label" tick={tick} stroke="var(--line)" minTickGap={24} />
        <YAxis
          tick={tick}
          stroke="var(--line)"
          width={72}
          domain={['auto', 'auto']}
          tickFormatter={(value: number) => compact.format(value)}
        />
        <Tooltip
          contentStyle={{ background: 'var(--paper)', borderColor: 'var(--line)', color: 'var(--ink)' }}
          formatter={(value) => [formatUsd(String(value)), name]}
        />
        <Line dataKey="value" stroke="var(--accent)" strokeWidth={2} dot={data.length < 40} isAnimationActive={false} />
      </LineChart>
    </ResponsiveContainer>
  )
}

const tick = { fill: 'var(--quiet)', fontSize: 12 }
