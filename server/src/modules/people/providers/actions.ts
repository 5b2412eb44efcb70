import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { providerSessionHours } from '../../../lib/limits.ts'
import { isLoopback } from '../../../lib/loopback.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { holdPlatformChange } from '../../registry/platform-changes/actions.ts'
import type { PlatformChangeRow } from '../../registry/platform-changes/queries.ts'
import { sealClientSecret } from './client-secret.ts'
import { findProvider, isWaiting, listVaultIdsOfDomains, lockProvider, type ProviderRow } from './queries.ts'
import type { CreateIdentityProvider, UpdateIdentityProvider } from './schema.ts'
import { digestOfSettings, settingsOf } from './settings.ts'

type Sealing = Pick<Deps, 'sealer' | 'config'>

/** Creates a provider as a draft, through which only its author may try to sign in. @throws 400 if the issuer cannot be called */
export async function createProvider(
  trx: Trx,
  { sealer, config }: Sealing,
  body: CreateIdentityProvider,
  by: ByCaller,
): Promise<ProviderRow> {
  assertIssuer(config, body.issuer)
  const id = newId(by.now)
  const { clientSecret = null } = body
  await trx
    .insertInto('identity_providers')
    .values({
      id,
      name: body.name,
      issuer: body.issuer,
      client_id: body.clientId,
      client_secret: clientSecret === null ? null : sealClientSecret(sealer, { id, issuer: body.issuer }, clientSecret),
      domains: body.domains,
      linking: body.linking ?? 'mail',
      session_hours: body.sessionHours ?? providerSessionHours,
      status: 'draft',
      created_by_id: by.caller.userId,
      created_at: by.now,
      updated_at: by.now,
    })
    .execute()
  const row = (await findProvider(trx, id))!
  await audit(trx, byPlatform(by), 'identity_provider.created', targetOf(id), settingsOf(row))
  return row
}

/**
 * Changes a provider that is not active. An earlier trial no longer counts.
 * @throws 400, 404; 409 for an active provider and for a provider whose activation waits; 403 for a caller who did not create it
 */
export async function updateProvider(
  trx: Trx,
  { sealer, config }: Sealing,
  id: string,
  body: UpdateIdentityProvider,
  by: ByCaller,
): Promise<ProviderRow> {
  const before = await lockChangeable(trx, id, by)
  const issuer = body.issuer ?? before.issuer
  assertIssuer(config, issuer)
  if (issuer !== before.issuer && body.clientSecret === undefined && before.client_secret !== null)
    throw badRequest('clientSecret', 'is required (or null): the stored secret is for another issuer')
  if (before.enforce && body.domains !== undefined && !isSameJson(body.domains, before.domains))
    throw conflict('wrong_state', 'Its people sign in through it alone; end that before its domains change')
  await trx
    .updateTable('identity_providers')
    // Kysely leaves undefined fields out of the statement.
    .set({
      name: body.name,
      issuer: body.issuer,
      client_id: body.clientId,
      client_secret:
        typeof body.clientSecret === 'string'
          ? sealClientSecret(sealer, { id, issuer }, body.clientSecret)
          : body.clientSecret,
      domains: body.domains,
      linking: body.linking,
      session_hours: body.sessionHours,
      tried_at: null,
      tried_email: null,
      updated_at: by.now,
    })
    .where('id', '=', id)
    .execute()
  const after = (await findProvider(trx, id))!
  const changed = changedFields(settingsOf(before), settingsOf(after)) ?? {}
  const secret = body.clientSecret === undefined ? {} : { clientSecret: 'replaced' }
  await audit(trx, byPlatform(by), 'identity_provider.updated', targetOf(id), { ...changed, ...secret })
  return after
}

type Trial = { email: string; settings: string; by: ByCaller }

/**
 * Records that the author of a provider signed in through it. That trial opens no session and links no identity.
 * @throws 409 when the settings of the provider changed since the trial began
 */
export async function noteTrial(trx: Trx, id: string, { email, settings, by }: Trial): Promise<void> {
  const provider = await lockChangeable(trx, id, by)
  if (digestOfSettings(provider) !== settings)
    throw conflict(
      'wrong_state',
      'The settings of the provider were changed during the sign-in; try them as they are now',
    )
  await trx
    .updateTable('identity_providers')
    .set({ tried_at: by.now, tried_email: email, updated_at: by.now })
    .where('id', '=', id)
    .execute()
  await audit(trx, byPlatform(by), 'identity_provider.tried', targetOf(id), { email })
}

/**
 * Asks another platform administrator to activate a provider with exactly its present settings.
 * @throws 403 for a caller who did not create it, 404, 409 when it is active, waits already, or was not tried
 */
export async function askToActivate(trx: Trx, id: string, by: ByCaller): Promise<PlatformChangeRow> {
  const provider = await lockChangeable(trx, id, by)
  if (provider.tried_at === null)
    throw conflict('wrong_state', 'Sign in through the provider first: its settings were not tried as they are now')
  const payload = settingsOf(provider)
  return holdPlatformChange(trx, { action: 'identity_provider_activate', targetId: id, payload }, by)
}

/** Activates a provider after another platform administrator confirmed its settings. @throws 404; 409 if the settings differ now */
export async function activateProvider(
  trx: Trx,
  id: string,
  payload: Record<string, unknown>,
  by: ByCaller,
): Promise<void> {
  const provider = orNotFound(await lockProvider(trx, id), 'Identity provider')
  const canBeActivated = provider.status !== 'active' && provider.tried_at !== null
  if (!canBeActivated || !isSameJson(settingsOf(provider), payload))
    throw conflict('wrong_state', 'The provider was changed after its activation was asked for')
  const taken = () => conflict('already_exists', 'Another active provider has this issuer or one of these domains')
  await trx
    .updateTable('identity_providers')
    .set({ status: 'active', updated_at: by.now })
    .where('id', '=', id)
    .execute()
    .catch(onViolation('identity_providers_issuer', taken))
  await trx
    .insertInto('identity_domains')
    .values(provider.domains.toSorted().map((domain) => ({ domain, provider_id: id })))
    .execute()
    .catch(onViolation('identity_domains_pkey', taken))
  await announceProvider(trx, 'activated', provider, by)
}

/**
 * Stops an active provider at once, and calls `endSessions` to end the sessions that it opened. No second person must confirm it,
 * because it only takes access away.
 * @throws 404; 409 for a provider that is not active
 */
export async function deactivateProvider(
  trx: Trx,
  id: string,
  by: ByCaller,
  endSessions: (trx: Trx, providerId: string, now: Date) => Promise<void>,
): Promise<ProviderRow> {
  const provider = orNotFound(await lockProvider(trx, id), 'Identity provider')
  if (provider.status !== 'active') throw conflict('wrong_state', 'The provider is not active')
  await trx.deleteFrom('identity_domains').where('provider_id', '=', id).execute()
  await trx.deleteFrom('identity_links').where('provider_id', '=', id).execute()
  await trx.deleteFrom('identity_provider_reads').where('provider_id', '=', id).execute()
  await trx
    .updateTable('identity_providers')
    .set({ status: 'off', tried_at: null, tried_email: null, updated_at: by.now })
    .where('id', '=', id)
    .execute()
  await endSessions(trx, id, by.now)
  await announceProvider(trx, 'stopped', provider, by)
  return (await findProvider(trx, id))!
}

async function announceProvider(
  trx: Trx,
  verb: 'activated' | 'stopped',
  provider: ProviderRow,
  { caller, now }: ByCaller,
): Promise<void> {
  const { id, name } = provider
  const details = settingsOf(provider)
  const event = {
    actorId: caller.userId,
    action: `identity_provider.${verb}`,
    targetType: 'identity_provider',
    targetId: id,
  }
  const sentence = `The identity provider ${quote(name)} was ${verb}`
  const vaultIds = await listVaultIdsOfDomains(trx, provider.domains)
  await announceRegistryChange(trx, { ...event, details, now, words: { sentence, after: details } }, vaultIds)
}

/** Locks a provider that its author may change. Nobody else may, so that the author knows the settings that they tried. */
async function lockChangeable(trx: Trx, id: string, by: ByCaller): Promise<ProviderRow> {
  const provider = orNotFound(await lockProvider(trx, id), 'Identity provider')
  if (provider.created_by_id !== by.caller.userId)
    throw forbidden('not_permitted', 'Only the platform administrator who created the provider changes it')
  if (provider.status === 'active') throw conflict('wrong_state', 'An active provider is not changed; stop it first')
  if (await isWaiting(trx, id)) throw conflict('wrong_state', 'The activation waits for another platform administrator')
  return provider
}

/** Refuses an issuer that is not an https URL. In demo mode a provider on this machine may use http. @throws 400 */
function assertIssuer({ demo }: Pick<Deps['config'], 'demo'>, issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : null
  if (url === null || url.username !== '' || url.password !== '' || issuer.includes('?') || issuer.includes('#'))
    throw badRequest('issuer', 'must be a URL without a user, a query or a fragment')
  if (url.protocol !== 'https:' && !(demo && isLoopback(url.hostname)))
    throw badRequest('issuer', 'must be an https URL')
}

const targetOf = (id: string) => ({ type: 'identity_provider', id })
