import type { HistoryItem } from '@strongroom/sdk'
import { formatAmount, formatUsd } from '../lib/amounts.ts'

/** An exact amount with its unit. `decimal` has the form of the API: "1234.5". */
export function Amount({ decimal, unit, className = '' }: { decimal: string; unit: string; className?: string }) {
  return (
    <span className={`figures ${className}`}>
      <span className={decimal.length > 30 ? 'break-all' : 'break-all md:whitespace-nowrap'}>
        {formatAmount(decimal)}
      </span>{' '}
      <span className="text-quiet">{unit}</span>
    </span>
  )
}

export function Usd({ value, className = '' }: { value: string | null | undefined; className?: string }) {
  return <span className={`figures ${className}`}>{formatUsd(value)}</span>
}

type Moved = Pick<HistoryItem, 'direction' | 'status' | 'amountDecimal' | 'assetSymbol' | 'usdValue'>

/** The incoming or outgoing amount with its value. An amount that never left is grey and has no sign. */
export function SignedAmount({ item, className = '' }: { item: Moved; className?: string }) {
  const { direction, status, amountDecimal, assetSymbol, usdValue } = item
  const isVoid = ['failed', 'rejected', 'cancelled'].includes(status)
  const look = isVoid ? 'text-quiet line-through' : direction === 'in' ? 'text-good' : ''
  const sign = isVoid ? '' : direction === 'in' ? '+' : '−'
  return (
    <div className={`figures font-medium md:whitespace-nowrap ${look} ${className}`}>
      {sign + formatAmount(amountDecimal)} <span className="text-quiet">{assetSymbol}</span>
      <div className="text-[0.8125rem] font-normal text-quiet">{formatUsd(usdValue)}</div>
    </div>
  )
}
