/** The authority of a vault, as the service says that the wallet service shows it; version 0 and null: none. */
export type SeenAuthority = { version: number; hash: string | null }

type Memory = Pick<Storage, 'getItem' | 'setItem'>

const keyOf = (vaultId: string) => `strongroom.authority.${vaultId}`

/**
 * The authority that this browser saw before, if the one that is shown now is older or another one of the same number; null: it
 * is not, and this browser remembers it. A service that was taken over, or restored, cannot change what is remembered here.
 */
export function findFallen(memory: Memory, vaultId: string, shown: SeenAuthority): SeenAuthority | null {
  const kept = recall(memory, vaultId)
  const isBehind =
    kept !== null && (shown.version < kept.version || (shown.version === kept.version && shown.hash !== kept.hash))
  if (isBehind) return kept
  if (shown.version > 0 && kept?.version !== shown.version) remember(memory, vaultId, shown)
  return null
}

/** Takes what is shown for the newest, also if it is older: who compared it says so. */
export function remember(memory: Memory, vaultId: string, { version, hash }: SeenAuthority): void {
  memory.setItem(keyOf(vaultId), JSON.stringify({ version, hash }))
}

function recall(memory: Memory, vaultId: string): SeenAuthority | null {
  try {
    const { version, hash } = JSON.parse(memory.getItem(keyOf(vaultId)) ?? 'null') as SeenAuthority
    return Number.isSafeInteger(version) && typeof hash === 'string' ? { version, hash } : null
  } catch {
    return null
  }
}
