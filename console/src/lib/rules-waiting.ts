type Listener = (requestId: string) => void

let listener: Listener | null = null

/** Registers a listener for changes of the rules that were not made yet, because others vote on them first. */
export function onRulesWaiting(newListener: Listener): void {
  listener = newListener
}

export const sayRulesWait: Listener = (requestId) => listener?.(requestId)
