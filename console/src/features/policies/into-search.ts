/** The destination of a saved policy: a draft of the rules, and the change in it that the policy replaces. */
export type Into = { draft?: string; at?: number }

/** Reads the destination from the URL. `new` is a draft that does not exist yet. */
export function readInto({ draft, at }: Record<string, unknown>): Into {
  if (typeof draft !== 'string' || draft === '') return {}
  return { draft, ...(typeof at === 'number' && Number.isInteger(at) && at >= 0 ? { at } : {}) }
}
