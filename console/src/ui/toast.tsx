import { useSyncExternalStore } from 'react'

type Toast = { id: number; text: string }
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** Says for a few seconds what has happened; screen readers read it politely. */
export function announce(text: string): void {
  lastId += 1
  const id = lastId
  set([...toasts, { id, text }])
  setTimeout(() => set(toasts.filter((toast) => toast.id !== id)), 6_000)
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
      {shown.map(({ id, text }) => (
        <p key={id} className="rounded-md bg-ink px-4 py-2 text-paper shadow-lg">
          {text}
        </p>
      ))}
    </div>
  )
}
