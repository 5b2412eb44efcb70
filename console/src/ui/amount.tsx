import type { HistoryItem } from '@strongroom/sdk'
import { formatAmount, formatUsd } from '../lib/amounts.ts'

/** An exact amount with its unit. `decimal` has the form of the API: "1234.5". */
export function Amount({ decimal, unit, className = '' }: { decimal: string; unit: string; className?: string }) {
  return (
    <span className={`figures ${className}`}>
      <Digits text={formatAmount(decimal)} /> <span className="text-quiet">{unit}</span>
    </span>
  )
}

/** Breaks a line after a separator only: a number that breaks between two digits reads as two numbers. */
export function Digits({ text }: { text: string }) {
  return (
    <span className={`[overflow-wrap:normal] ${text.length > 36 ? '' : 'md:whitespace-nowrap'}`}>
      {text.split(/([.,\s’])/).map((part, index) => (index % 2 === 0 ? part : [part, <wbr key={index} />]))}
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
      <Digits text={sign + formatAmount(amountDecimal)} /> <span className="text-quiet">{assetSymbol}</span>
      <div className="text-[0.8125rem] font-normal text-quiet">{formatUsd(usdValue)}</div>
    </div>
  )
}
