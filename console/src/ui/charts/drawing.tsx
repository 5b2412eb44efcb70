import { Area, AreaChart, Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { localeNow } from '../../lib/language.ts'
import type { ChartProps } from './chart.tsx'

/** What a table says exactly, a picture shows as far as a number goes. */
export default function Drawing({ kind, series, points, format }: ChartProps) {
  const data = points.map(({ label, values }) => ({
    label,
    ...Object.fromEntries(series.map(({ key }) => [key, numberOf(values[key])])),
  }))
  const axes = [
    <CartesianGrid key="grid" stroke="var(--line)" vertical={false} />,
    <XAxis key="x" dataKey="label" tick={tick} stroke="var(--line)" minTickGap={40} />,
    <YAxis key="y" tick={tick} stroke="var(--line)" width={64} tickFormatter={compact} />,
    <Tooltip key="tooltip" formatter={(value) => format(String(value))} contentStyle={box} cursor={{ fill: 'none' }} />,
  ]
  return (
    <ResponsiveContainer width="100%" height="100%">
      {kind === 'area' ? (
        <AreaChart data={data}>
          {axes}
          {series.map(({ key, label, color }) => (
            <Area
              key={key}
              dataKey={key}
              name={label}
              stroke={color}
              fill={color}
              fillOpacity={0.15}
              strokeWidth={2}
              isAnimationActive={false}
            />
          ))}
        </AreaChart>
      ) : (
        <BarChart data={data}>
          {axes}
          {series.map(({ key, label, color }) => (
            <Bar key={key} dataKey={key} name={label} fill={color} maxBarSize={18} isAnimationActive={false} />
          ))}
        </BarChart>
      )}
    </ResponsiveContainer>
  )
}

const tick = { fill: 'var(--quiet)', fontSize: 12 }
const box = { background: 'var(--paper)', border: '1px solid var(--line)', borderRadius: 6, color: 'var(--ink)' }

function numberOf(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}

function compact(value: number): string {
  return new Intl.NumberFormat(localeNow(), { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}
