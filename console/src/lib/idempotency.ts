/** A key under which the service carries a write out once, however often it is sent. Made when a form opens. */
export function newIdempotencyKey(): string {
  // Not randomUUID: browsers have that on secure origins only.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
