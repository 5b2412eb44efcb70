/**
 * Returns the hash of a payload as docs/audit.md tells a browser to compute it: with WebCrypto, from an answer alone. It shares
 * no code with the service, because it checks the recipe.
 */
export async function hashInBrowser(payload: unknown): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(payload)))
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`)
  return `{${members.join(',')}}`
}
