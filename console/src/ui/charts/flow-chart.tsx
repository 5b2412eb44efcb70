import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import { formatUsd } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'

export type FlowPoint = { label: string; incoming: string; outgoing: string; net: string }

/**
 * Incoming, outgoing and net amounts per period. The chart rounds its numbers; the table beside it has the exact
 * figures.
 */
export default function FlowChart({ points }: { points: readonly FlowPoint[] }) {
  const data = points.map(({ label, incoming, outgoing, net }) => ({
    label,
    incoming: Number(incoming),
    outgoing: -Number(outgoing),
    net: Number(net),
  }))
  const compact = formatter(Intl.NumberFormat, { notation: 'compact', style: 'currency', currency: 'USD' })
  const names: Record<string, string> = { incoming: t('In'), outgoing: t('Out'), net: t('Net') }
  return (
    <ResponsiveContainer width="100%" height={240}>
      <ComposedChart
        accessibilityLayer={false}
        data={data}
        stackOffset="sign"
        margin={{ top: 8, right: 8, bottom: 0, left: 8 }}
      >
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="label" tick={tick} stroke="var(--line)" minTickGap={24} />
        <YAxis tick={tick} stroke="var(--line)" width={72} tickFormatter={(value: number) => compact.format(value)} />
        <ReferenceLine y={0} stroke="var(--quiet)" />
        <Tooltip
          cursor={{ fill: 'var(--accent-soft)' }}
          contentStyle={{ background: 'var(--paper)', borderColor: 'var(--line)', color: 'var(--ink)' }}
          formatter={(value, name) => [formatUsd(String(Math.abs(Number(value)))), names[String(name)] ?? String(name)]}
        />
        <Bar dataKey="incoming" stackId="flow" fill="var(--good)" isAnimationActive={false} maxBarSize={32} />
        <Bar dataKey="outgoing" stackId="flow" fill="var(--warn)" isAnimationActive={false} maxBarSize={32} />
        <Line dataKey="net" stroke="var(--accent)" strokeWidth={2} dot={false} isAnimationActive={false} />
      </ComposedChart>
    </ResponsiveContainer>
  )
}

const tick = { fill: 'var(--quiet)', fontSize: 12 }
