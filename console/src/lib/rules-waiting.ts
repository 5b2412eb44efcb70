type Listener = (requestId: string) => void

let listener: Listener | null = null

/** Is told of each change of the rules that was not made, because others vote about it first. */
export function onRulesWaiting(told: Listener): void {
  listener = told
}

export const sayRulesWait: Listener = (requestId) => listener?.(requestId)
