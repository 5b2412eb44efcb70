import { type PointerEvent, type ReactNode, useCallback, useState } from 'react'
import { labelStep, ticksOf } from './ticks.ts'

/**
 * Positions in a plot: the horizontal centre of a point, the vertical position of a value, and the width of a point.
 */
export type Places = { x: (index: number) => number; y: (value: number) => number; step: number }

type PlotProps = {
  /** The label of each point. */
  labels: readonly string[]
  /** Values that must be within the plot. */
  values: readonly number[]
  height: number
  format: (value: number) => string
  /** Returns the lines of text that describe the point under the pointer. */
  told: (index: number) => readonly string[]
  children: (places: Places) => ReactNode
}

const left = 72
const right = 8
const top = 8
const bottom = 24
const labelWidth = 84

/** Draws the axes, the grid and the text about the point under the pointer; `children` draw the points. */
export function Plot({ labels, values, height, format, told, children }: PlotProps) {
  const [width, setWidth] = useState(0)
  const [at, pointAt] = useState<number | null>(null)
  const measure = useCallback((node: HTMLDivElement) => {
    const observer = new ResizeObserver(() => setWidth(node.clientWidth))
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  const ticks = ticksOf(Math.min(...values), Math.max(...values))
  const [low, high] = [ticks[0]!, ticks.at(-1)!]
  const step = Math.max(width - left - right, 1) / Math.max(labels.length, 1)
  const x = (index: number) => left + (index + 0.5) * step
  const y = (value: number) => top + ((high - value) / (high - low)) * (height - top - bottom)
  const every = labelStep(labels.length, width - left - right, labelWidth)
  const point = ({ clientX, currentTarget }: PointerEvent) => {
    const index = Math.floor((clientX - currentTarget.getBoundingClientRect().left - left) / step)
    pointAt(index >= 0 && index < labels.length ? index : null)
  }
  return (
    <div ref={measure} className="plot relative">
      <svg aria-hidden width={width} height={height} onPointerMove={point} onPointerLeave={() => pointAt(null)}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
            <text x={left - 8} y={y(tick)} dy="0.32em" textAnchor="end" fontSize={12} fill="var(--quiet)">
              {format(tick)}
            </text>
          </g>
        ))}
        {at !== null && (
          <rect x={x(at) - step / 2} y={top} width={step} height={height - top - bottom} fill="var(--accent-soft)" />
        )}
        {children({ x, y, step })}
        {labels.map((label, index) =>
          index % every === 0 ? (
            <text key={index} x={x(index)} y={height - 6} textAnchor="middle" fontSize={12} fill="var(--quiet)">
              {label}
            </text>
          ) : null,
        )}
      </svg>
      {at !== null && (
        <div
          className="pointer-events-none absolute top-2 rounded-md border border-line bg-paper p-2 text-[0.8125rem] whitespace-nowrap"
          style={x(at) < width / 2 ? { left: x(at) + step / 2 } : { right: width - x(at) + step / 2 }}
        >
          <p className="text-quiet">{labels[at]}</p>
          {told(at).map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      )}
    </div>
  )
}

/** Returns the path of a line through the points; it has a gap where a value is unknown. */
export function linePath(values: readonly (number | null)[], { x, y }: Places): string {
  return values
    .map((value, index) => {
      if (value === null) return ''
      const before = values[index - 1]
      return `${before === null || before === undefined ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
}
