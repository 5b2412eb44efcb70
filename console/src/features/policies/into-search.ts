/** Where a policy goes when it is saved: a draft of the rules, and which of its changes it takes the place of. */
export type Into = { draft?: string; at?: number }

/** Reads it from the address of the page; `new` is a draft that is not made yet. */
export function readInto({ draft, at }: Record<string, unknown>): Into {
  if (typeof draft !== 'string' || draft === '') return {}
  return { draft, ...(typeof at === 'number' && Number.isInteger(at) && at >= 0 ? { at } : {}) }
}
