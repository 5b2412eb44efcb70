import { sql } from 'kysely'
import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { holdPlatformChange } from '../../registry/platform-changes/actions.ts'
import type { PlatformChangeRow } from '../../registry/platform-changes/queries.ts'
import { assertAdministratorsGetIn } from './locked-out.ts'
import { domainOf, listVaultIdsOfDomains, lockProvider, type ProviderRow } from './queries.ts'

/** The ways to sign in without a provider: `break_glass` is a passkey and a mailed link together. */
type WaysBeside = 'all' | 'break_glass' | 'none'

/**
 * Returns the ways in which the person of an e-mail address may sign in without their provider. Providers are locked until the
 * transaction ends, so that an enforcement that begins at the same time also ends a session that this transaction opens.
 */
export async function waysBesideProvider(trx: Trx, email: string): Promise<WaysBeside> {
  const { rows } = await sql<{ enforce: boolean }>`
    select enforce from identity_providers where ${domainOf(email)} = any(domains) order by id for share`.execute(trx)
  if (!rows.some(({ enforce }) => enforce)) return 'all'
  const named = await trx
    .selectFrom('break_glass_people as b')
    .innerJoin('users as u', 'u.id', 'b.user_id')
    .select('b.user_id')
    .where('u.email', '=', email.toLowerCase())
    .executeTakeFirst()
  return named === undefined ? 'none' : 'break_glass'
}

/**
 * Asks another platform administrator to enforce a provider, or to end the enforcement.
 * @throws 404; 409 when nothing would change, when the provider to enforce is not active, and when the enforcement would lock out
 *   platform administrators
 */
export async function askToEnforce(trx: Trx, id: string, enforce: boolean, by: ByCaller): Promise<PlatformChangeRow> {
  await assertEnforceable(trx, id, enforce, by)
  return holdPlatformChange(trx, { action: 'identity_provider_enforce', targetId: id, payload: { enforce } }, by)
}

/**
 * Enforces a provider, or ends its enforcement. An enforcement calls `endSessions` to end the sessions of people of its domains that
 * no provider opened, so that a person who is stopped at the provider has no session left.
 * @throws as `askToEnforce`
 */
export async function enforceProvider(
  trx: Trx,
  id: string,
  payload: Record<string, unknown>,
  by: ByCaller,
  endSessions: (trx: Trx, domains: string[], now: Date) => Promise<void>,
): Promise<void> {
  const enforce = payload.enforce === true
  const provider = await assertEnforceable(trx, id, enforce, by)
  await trx.updateTable('identity_providers').set({ enforce, updated_at: by.now }).where('id', '=', id).execute()
  if (enforce) await endSessions(trx, provider.domains, by.now)
  const { name, domains } = provider
  const details = { name, domains, enforce }
  const target = { targetType: 'identity_provider', targetId: id }
  const action = enforce ? 'identity_provider.enforced' : 'identity_provider.not_enforced'
  const sentence = enforce
    ? `People of the domains of ${quote(name)} now sign in through it alone`
    : `People of the domains of ${quote(name)} may sign in by link and passkey again`
  await announceRegistryChange(
    trx,
    { actorId: by.caller.userId, action, ...target, details, now: by.now, words: { sentence, after: details } },
    await listVaultIdsOfDomains(trx, domains),
  )
}

async function assertEnforceable(trx: Trx, id: string, enforce: boolean, by: ByCaller): Promise<ProviderRow> {
  const provider = orNotFound(await lockProvider(trx, id), 'Identity provider')
  if (provider.enforce === enforce)
    throw conflict('wrong_state', enforce ? 'The provider is already enforced' : 'The provider is not enforced')
  if (enforce && provider.status !== 'active') throw conflict('wrong_state', 'The provider is not active')
  if (enforce) await assertAdministratorsGetIn(trx, { enforcing: id, by })
  return provider
}
