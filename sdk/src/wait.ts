import { TimeoutError } from './errors.ts'
import type { Transfer } from './generated/api.ts'
import { wait } from './send.ts'

export type TransferStatus = Transfer['status']

export type WaitOptions = {
  /** The status, or one of the statuses, at which waiting ends. A final status ends it in any case. */
  until?: TransferStatus | readonly TransferStatus[]
  signal?: AbortSignal
  /** The longest time to wait; 10 minutes by default. */
  timeoutMs?: number
}

const finalStatuses: readonly TransferStatus[] = ['confirmed', 'failed', 'rejected', 'cancelled']
const timeoutMsDefault = 600_000
const pauseMsMin = 500
const pauseMsMax = 5_000

/**
 * Requests a transfer until it has one of the statuses `until`, or a final status. Check the status of the result.
 *
 * @throws TimeoutError; the transfer goes on
 */
export async function waitForTransfer(
  get: (signal: AbortSignal | undefined) => Promise<Transfer>,
  { until = [], signal, timeoutMs = timeoutMsDefault }: WaitOptions = {},
): Promise<Transfer> {
  const wanted = [...finalStatuses, ...(typeof until === 'string' ? [until] : until)]
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMs * 1.5, pauseMsMax)) {
    const transfer = await get(signal)
    if (wanted.includes(transfer.status)) return transfer
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) throw new TimeoutError(timeoutMs, `The transfer is still ${transfer.status}, and did not end`)
    await wait(Math.min(pauseMs, leftMs), signal)
  }
}
