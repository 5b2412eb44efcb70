import { useSyncExternalStore } from 'react'
import { t } from '../lib/language.ts'
import { onRulesWaiting } from '../lib/rules-waiting.ts'

type Toast = { id: number; text: string; href?: string }
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** Shows a message for a few seconds. Screen readers read it politely. */
export function announce(text: string): void {
  // A page reports success although its change of the rules waits for votes. Such a message is dropped.
  if (Date.now() - sentAt < sameChangeMilliseconds) return
  show({ text })
}

const sameChangeMilliseconds = 3_000
let sentAt = 0

onRulesWaiting((requestId) => {
  sentAt = Date.now()
  const [, vault] = /^\/v\/([^/]+)/.exec(window.location.pathname) ?? []
  const href = vault === undefined ? {} : { href: `/v/${vault}/approvals/request/${requestId}` }
  show({ text: t('Sent for approval. Others must agree before it takes effect.'), ...href })
})

function show({ text, href }: Omit<Toast, 'id'>): void {
  lastId += 1
  const id = lastId
  set([...toasts, { id, text, ...(href === undefined ? {} : { href }) }])
  setTimeout(() => set(toasts.filter((toast) => toast.id !== id)), href === undefined ? 6_000 : 15_000)
}

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-20 z-50 grid justify-items-center gap-2 px-4 md:bottom-6"
    >
      {shown.map(({ id, text, href }) => (
        <p key={id} className="pointer-events-auto rounded-md bg-ink px-4 py-2 text-paper shadow-lg">
          {text}
          {href !== undefined && (
            <a className="ms-3 underline" href={href}>
              {t('See who votes')}
            </a>
          )}
        </p>
      ))}
    </div>
  )
}
