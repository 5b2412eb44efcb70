import { formatUsd } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import { linePath, type Places, Plot } from './plot.tsx'

type FlowPoint = { label: string; incoming: string; outgoing: string; net: string }

const barMax = 32

/**
 * Incoming, outgoing and net amounts per period. The chart rounds its numbers; the table beside it has the exact
 * figures.
 */
export default function FlowChart({ points }: { points: readonly FlowPoint[] }) {
  const incoming = points.map((point) => Number(point.incoming))
  const outgoing = points.map((point) => -Number(point.outgoing))
  const net = points.map((point) => Number(point.net))
  const compact = formatter(Intl.NumberFormat, { notation: 'compact', style: 'currency', currency: 'USD' })
  const bars = (amounts: number[], fill: string, { x, y, step }: Places) => {
    const width = Math.min(step * 0.8, barMax)
    return amounts.map((amount, index) => {
      const [from, to] = [y(Math.max(amount, 0)), y(Math.min(amount, 0))]
      return <rect key={index} x={x(index) - width / 2} y={from} width={width} height={to - from} fill={fill} />
    })
  }
  return (
    <Plot
      labels={points.map(({ label }) => label)}
      values={[0, ...incoming, ...outgoing, ...net]}
      height={240}
      format={(value) => compact.format(value)}
      told={(index) => [
        `${t('In')}: ${formatUsd(points[index]!.incoming)}`,
        `${t('Out')}: ${formatUsd(points[index]!.outgoing)}`,
        `${t('Net')}: ${formatUsd(points[index]!.net)}`,
      ]}
    >
      {(places) => (
        <>
          {bars(incoming, 'var(--good)', places)}
          {bars(outgoing, 'var(--warn)', places)}
          <line
            x1={places.x(0) - places.step / 2}
            x2={places.x(points.length - 1) + places.step / 2}
            y1={places.y(0)}
            y2={places.y(0)}
            stroke="var(--quiet)"
          />
          <path d={linePath(net, places)} fill="none" stroke="var(--accent)" strokeWidth={2} />
        </>
      )}
    </Plot>
  )
}
