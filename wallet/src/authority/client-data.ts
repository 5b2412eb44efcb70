/**
 * The `clientDataJSON` of a passkey, as every verifier of Strongroom reads it (docs/signed-orders.md). Ambiguous data is
 * refused.
 */

export type ClientData = { type: string; challenge: string; origin: string }

/**
 * Returns null for bytes that are not UTF-8 or begin with a byte order mark, for text that is not a JSON object or names a
 * member twice, and for an answer in a frame of another origin, which could mislead people by its surroundings.
 */
export function readClientData(bytes: Uint8Array): ClientData | null {
  const data = parseObject(bytes)
  if (data === null) return null
  const { type, challenge, origin, crossOrigin = false } = data
  if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string') return null
  return crossOrigin === false && !('topOrigin' in data) ? { type, challenge, origin } : null
}

function parseObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    const names = namesOf(text)
    return text.startsWith('{') && new Set(names).size === names.length ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** Returns the names of the members of a JSON object, with repetitions, without those of nested objects. */
function namesOf(json: string): string[] {
  const names: string[] = []
  let depth = 0
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[[\]{}]/g)) {
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    else if (depth === 1 && token.endsWith(':')) names.push(JSON.parse(token.slice(0, -1)) as string)
  }
  return names
}
