/**
 * The authority of a vault that the wallet service shows, according to the service. Version 0 and null mean that there
 * is no authority.
 */
export type SeenAuthority = { version: number; hash: string | null }

type Memory = Pick<Storage, 'getItem' | 'setItem'>

const keyOf = (vaultId: string) => `strongroom.authority.${vaultId}`

/**
 * Returns the remembered authority if the shown authority is older, or has the same version and another hash. Otherwise
 * remembers the shown authority and returns null. A service that was taken over or restored cannot change the memory of
 * this browser.
 */
export function findFallen(memory: Memory, vaultId: string, shown: SeenAuthority): SeenAuthority | null {
  const kept = recall(memory, vaultId)
  const isBehind =
    kept !== null && (shown.version < kept.version || (shown.version === kept.version && shown.hash !== kept.hash))
  if (isBehind) return kept
  if (shown.version > 0 && kept?.version !== shown.version) remember(memory, vaultId, shown)
  return null
}

/** Remembers the shown authority as the newest, even if it is older. Called when a person has compared it. */
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
