import { formatAmount, formatUsd } from '../lib/amounts.ts'

/** An exact amount with its unit. `decimal` as the API sends it: "1234.5". */
export function Amount({ decimal, unit, className = '' }: { decimal: string; unit: string; className?: string }) {
  return (
    <span className={`figures ${className}`}>
      <span className="break-all">{formatAmount(decimal)}</span> <span className="text-quiet">{unit}</span>
    </span>
  )
}

export function Usd({ value, className = '' }: { value: string | null | undefined; className?: string }) {
  return <span className={`figures ${className}`}>{formatUsd(value)}</span>
}
