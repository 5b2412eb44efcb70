import type { Place, Sealer } from '../../../lib/secrets.ts'

/** Returns the place for which the token of an invitation is sealed. */
export const placeOfToken = (vaultId: string, id: string): Place => ({
  table: 'invitations',
  column: 'token_sealed',
  row: [vaultId, id],
})

/** @throws SealError */
export function openToken(sealer: Sealer, invitation: { vault_id: string; id: string; token_sealed: Buffer }): string {
  return sealer.open(placeOfToken(invitation.vault_id, invitation.id), invitation.token_sealed)
}
