/** A small curve without axes beside a figure. Unknown values leave gaps. */
export function Sparkline({ values, label }: { values: readonly (number | null)[]; label: string }) {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return null
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const x = (index: number) => (index / (values.length - 1)) * width
  // A constant line runs through the middle.
  const y = (value: number) => (high === low ? height / 2 : height - 1 - ((value - low) / (high - low)) * (height - 2))
  const path = values.map((value, index) => {
    if (value === null) return ''
    const isFirst = index === 0 || values[index - 1] === null
    return `${isFirst ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
  })
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
      <path d={path.join(' ')} fill="none" stroke="var(--accent)" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  )
}

const width = 96
const height = 24
