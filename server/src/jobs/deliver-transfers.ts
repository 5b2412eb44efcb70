import type { Deps } from '../deps.ts'
import { createDelivery, postOutstandingFees } from '../modules/money/transfers/deliver.ts'
import { expireTransfers } from '../modules/money/transfers/expire.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 400
const feePauseMilliseconds = 30_000

/** Brings transfers to the wallet service and back into the books, expires what nobody approved, posts late fees. */
export function startTransferDelivery(deps: Deps): () => Promise<void> {
  const delivery = createDelivery(deps)
  const stops = [
    repeat(deps, 'deliver-transfers', pauseMilliseconds, async () => void (await delivery.round())),
    repeat(deps, 'expire-transfers', pauseMilliseconds, () => expireTransfers(deps)),
    repeat(deps, 'post-fees', feePauseMilliseconds, () => postOutstandingFees(deps)),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
    await Promise.all(delivery.underWay.values())
  }
}
