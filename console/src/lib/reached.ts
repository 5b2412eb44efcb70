/** True if the service answered the last request. */
let reached = navigator.onLine
const listeners = new Set<() => void>()

export function noteReached(value: boolean): void {
  if (reached === value) return
  reached = value
  for (const listener of listeners) listener()
}

// While the browser is offline, requests would only fail.
window.addEventListener('offline', () => noteReached(false))

export function onReached(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const isReached = (): boolean => reached
