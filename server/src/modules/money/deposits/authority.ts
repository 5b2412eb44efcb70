/**
 * Which deposits a signature may credit. A vault with a secret of its own is credited only under that secret; the secret
 * of the installation credits the vaults that have none.
 *
 * @param signedBy the vaults whose own secret signed the event; null: the secret of the installation signed it, or
 *   nothing did in demo mode
 */
export function mayCredit(signedBy: string[] | null, vault: { vaultId: string; hasVaultSecret: boolean }): boolean {
  return signedBy === null ? !vault.hasVaultSecret : signedBy.includes(vault.vaultId)
}
