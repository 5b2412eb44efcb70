import type { Static } from 'typebox'
import { toAssetAmount } from '../ledger/present.ts'
import type { ShownHold } from './queries.ts'
import type { Hold } from './schema.ts'

export function toHold({ reserved, code, decimals, created_at: _, ...hold }: ShownHold): Static<typeof Hold> {
  const isReserving = reserved !== null && code !== null && decimals !== null
  return { ...hold, reserved: isReserving ? toAssetAmount(reserved, { code, decimals }) : null }
}
