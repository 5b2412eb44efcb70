import type { KeyboardEvent } from 'react'

/** Moves the focus by arrow keys from one stop to the next, and from the last to the first. */
export function moveByArrows(event: KeyboardEvent, stops: readonly HTMLElement[]): void {
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (move === undefined) return
  event.preventDefault()
  const at = stops.indexOf(document.activeElement as HTMLElement)
  stops[(Math.max(at, 0) + move + stops.length) % stops.length]!.focus()
}
