import type { Decision } from '../../sdk/src/signing/signing.ts'

const day = 86_400_000
/** The wallet service takes no order that ends later than this after it was signed (docs/signed-orders.md). */
const daysMax = 30

/** Says why an order with this end is signed no more, or not yet. Returns null when it is signed; refusing it needs no end. */
export function obstacleOf(expiresAt: string, decision: Decision): string | null {
  if (decision === 'reject' || decision === 'cancel') return null
  const left = Date.parse(expiresAt) - Date.now()
  if (left <= 0) return 'It has expired: the wallet service signs it no more.'
  if (left > daysMax * day) return `It ends in more than ${daysMax} days: the wallet service refuses it.`
  return null
}
