import type { Trx } from '../../../db/client.ts'
import { compareRows, ofTarget } from '../../record/audit/compare-rows.ts'
import { platformChain } from '../../record/audit/record.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'
import { isRevokedService } from './queries.ts'

/** Compares the e-mail address, the disabling and the platform administration of each user with the audit records. */
export async function verifyUsers(trx: Trx): Promise<SubjectReport> {
  const users = await trx
    .selectFrom('users as u')
    .select(['u.id', 'u.kind', 'u.email', 'u.is_platform_admin', 'u.disabled_at', isRevokedService.as('is_revoked')])
    .execute()
  // Revoking its token disables a service too, and is recorded in its vault.
  const revokedIds = new Set(users.filter((user) => user.is_revoked).map(({ id }) => id))
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'user',
    actions: ['user.created', 'platform_admin.added', 'user.disabled', 'user.enabled'],
    take: ofTarget((before, { action, details, targetId }) => {
      if (action === 'user.created') {
        return { email: details.email, 'platform administration': false, disabling: false }
      }
      if (action === 'platform_admin.added') return { ...before, 'platform administration': true }
      return { ...before, disabling: action === 'user.disabled' || revokedIds.has(targetId) }
    }),
    rows: users.map(({ id, kind, email, is_platform_admin, disabled_at }) => ({
      id,
      row: { kind, email, 'platform administration': is_platform_admin, disabling: disabled_at !== null },
    })),
    // A service is recorded with its token, in its vault. It has no e-mail address.
    isUnrecorded: ({ kind, email, 'platform administration': isAdmin }) =>
      kind === 'service' && email === null && isAdmin === false,
  })
}
