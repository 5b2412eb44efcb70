import { sql } from 'kysely'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { Closed } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'
import { acceptToken } from '../../registry/tokens/withheld.ts'
import { governedAction } from './actions.ts'

/**
 * Lets a vault use a token that the platform enabled after the vault had governance.
 * @throws 404 for a token that is not withheld from the vault
 */
export async function acceptWithheldToken(trx: Trx, tokenId: string, by: ByMember): Promise<void> {
  const vaultId = by.member.vault.id
  if (!(await acceptToken(trx, vaultId, tokenId))) throw notFound('Token')
  const { rows } = await sql<{ code: string }>`select code from tokens where id = ${tokenId}`.execute(trx)
  const { code } = rows[0]!
  await announceVaultChange(trx, {
    ...byMember(by),
    action: 'token.accepted',
    targetType: 'token',
    targetId: tokenId,
    details: { code },
    words: { sentence: `The token ${quote(code)} was accepted for the vault` },
  })
}

export const acceptTokenAction = {
  token_accept: governedAction(
    { operationId: 'acceptToken', target: 'token', schema: Closed({}) },
    async (trx, { targetId }, by) => {
      await acceptWithheldToken(trx, targetId, by)
      return targetId
    },
  ),
}
