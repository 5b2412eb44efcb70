/** What must be added and removed so that one list becomes the other. */
export function changesOf(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  return {
    added: after.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !after.includes(id)),
  }
}

/** The end of a day that was chosen, in the reader's zone, as an instant. */
export function endOfDay(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString()
}

type Timed = { expiresAt: string | null; revokedAt: string | null }

/** Whether a service token still opens anything. */
export function tokenState(
  { expiresAt, revokedAt }: Timed,
  now: number = Date.now(),
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}
