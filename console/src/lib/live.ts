import type { Changes } from '@strongroom/sdk'
import type { QueryClient } from '@tanstack/react-query'
import { strongroom } from './api.ts'
import { isUnreached } from './query-client.ts'
import { noteReached } from './reached.ts'

type Change = Changes['items'][number]
type Message = { items: Change[]; reset: boolean }

/** The data that each kind of change makes outdated: the first part of the query keys, before the code of the vault. */
const nounsOf: Record<Change['kind'], string[]> = {
  transfer: ['transfers', 'history', 'balances', 'reports', 'books', 'category-assignments'],
  deposit: ['deposits', 'history', 'balances', 'reports', 'books', 'category-assignments'],
  approval_request: ['approval-requests'],
  payout: ['payouts', 'transfers', 'history', 'balances'],
  address: ['addresses', 'balances'],
  address_group: ['address-groups', 'addresses'],
  counterparty: ['counterparties'],
  counterparty_group: ['counterparty-groups'],
  policy: ['policies', 'people', 'membership', 'first-run'],
  group: ['policy-groups', 'people', 'members', 'membership'],
  category: ['operation-categories', 'categories', 'category-assignments'],
  adjustment: ['books', 'balances'],
  hold: ['holds', 'balances', 'transfers', 'membership'],
  vault: ['vault', 'session'],
  token: ['tokens'],
  rate: ['tokens', 'rates', 'balances'],
}
const waitingKinds = new Set<Change['kind']>(['transfer', 'approval_request', 'payout'])

/**
 * Keeps the shown data up to date. One tab of the browser waits for changes and tells the other tabs, because a browser
 * opens only six connections to one origin.
 * @returns a function that ends it
 */
export function followChanges(client: QueryClient): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel('strongroom.changes')
  const apply = (message: Message) => refresh(client, message)
  channel.onmessage = ({ data }: MessageEvent<Message>) => apply(data)
  const lead = () =>
    waitForChanges(stop.signal, (message) => {
      channel.postMessage(message)
      apply(message)
    })
  // Locks exist on https and localhost only. Elsewhere every tab waits by itself.
  const leading =
    navigator.locks === undefined
      ? lead()
      : navigator.locks.request('strongroom.changes', { signal: stop.signal }, lead)
  leading.catch(() => undefined)
  return () => {
    stop.abort()
    channel.close()
  }
}

async function waitForChanges(signal: AbortSignal, tell: (message: Message) => void): Promise<void> {
  let after: string | undefined
  let failures = 0
  while (!signal.aborted) {
    try {
      const query = after === undefined ? {} : { after, wait: 25 }
      const { items, nextCursor, reset } = await strongroom.changes.list(query, { signal, retries: 0 })
      // After a fault, some changes may have been missed.
      if (items.length > 0 || reset || (failures > 0 && after === undefined))
        tell({ items, reset: reset || failures > 0 })
      after = nextCursor
      failures = 0
      noteReached(true)
    } catch (error) {
      failures += 1
      // A single broken wait does not mean that the service is down.
      if (failures > 1 && isUnreached(error)) noteReached(false)
      after = undefined
      await pause(Math.min(60, 2 ** failures) * 1_000, signal)
    }
  }
}

function refresh(client: QueryClient, { items, reset }: Message): void {
  if (reset) return void client.invalidateQueries()
  const stale = new Set(items.flatMap(({ vault, kind }) => nounsOf[kind].map((noun) => `${noun} ${vault ?? ''}`)))
  for (const entry of stale) {
    const [noun, code] = entry.split(' ')
    void client.invalidateQueries({ queryKey: code === '' || noun === 'tokens' ? [noun] : [noun, code] })
  }
  if (items.some(({ kind }) => waitingKinds.has(kind))) void client.invalidateQueries({ queryKey: ['inbox'] })
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
