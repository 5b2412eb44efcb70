import { formatDecimal } from '../../../lib/money.ts'
import type { FoundRow } from './queries.ts'
import type { FoundItem } from './schema.ts'

export function toFoundItem({ kind, id, title, subtitle, amount, decimals, symbol }: FoundRow): FoundItem {
  return { kind, id, title: title ?? `${formatDecimal(amount!, decimals!)} ${symbol}`, subtitle }
}
