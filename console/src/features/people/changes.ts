/** Returns the items to add to and to remove from one list to get the other. */
export function changesOf(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  return {
    added: after.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !after.includes(id)),
  }
}

/** Returns the end of the chosen day in the reader's zone, as an instant. */
export function endOfDay(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString()
}

type Timed = { expiresAt: string | null; revokedAt: string | null }

/** Returns the state of a service token: active, expired or revoked. */
export function tokenState(
  { expiresAt, revokedAt }: Timed,
  now: number = Date.now(),
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}
