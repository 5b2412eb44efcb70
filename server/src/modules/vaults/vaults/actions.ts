import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type ByCaller, type ByMember, byMember, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { isOneOf } from '../../../db/one-of.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { badRequest, conflict, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { openPhases } from '../../../lib/operations.ts'
import { audit } from '../../record/audit/record.ts'
import { announceVaultChange, type ChangeInWords, quote } from '../../record/notifications/announce.ts'
import { insertSystemGroups } from '../../rules/policy-groups/actions.ts'
import { findVault, lockVaultRow, type VaultRow, type VaultWithStructure } from '../structure/queries.ts'
import type { ProtectionUpdate, VaultCreation, VaultUpdate } from '../structure/schema.ts'
import { insertStructure, planOrThrow, summaryOf } from '../structure/write-structure.ts'
import { accountsOf, listAccountKeys } from '../wallets/account-keys.ts'
import {
  findNewestAddressId,
  type Probed,
  ProbeNeededError,
  pickSamples,
  pickUnchecked,
} from '../wallets/probe-wallet.ts'
import { forgetWalletMark } from '../wallets/wallet-marks.ts'
import {
  differencesOfWallet,
  faultsOfWallet,
  isSameWallet,
  markInRecord,
  notAsRecorded,
  readRecordedWallet,
  redirected,
  sealed,
} from '../wallets/wallet-settings.ts'
import { pinShownKeys } from './lock.ts'

/**
 * Creates a draft vault with its derivation structure and its three built-in groups.
 * @throws 400 with every fault of the structure, 409 when the code is taken
 */
export async function createVault(
  trx: Trx,
  { config, sealer }: Pick<Deps, 'config' | 'sealer'>,
  { vault, routes }: Static<typeof VaultCreation>,
  by: ByCaller,
): Promise<VaultWithStructure> {
  const { caller, now } = by
  const plan = planOrThrow(routes, faultsOfWallet(vault, config, 'vault.'))
  const id = newId(now)
  const { code, name, walletServiceUrl, walletQuestionsPerSecond } = vault
  const home = { id, wallet_service_url: walletServiceUrl }
  const serviceSecret = sealed(sealer, home, 'wallet_service_secret', vault.walletServiceSecret ?? null)
  const webhookSecret = sealed(sealer, home, 'wallet_webhook_secret', vault.walletWebhookSecret ?? null)
  await trx
    .insertInto('vaults')
    .values({
      id,
      code,
      name,
      description: vault.description ?? null,
      wallet_service_url: walletServiceUrl,
      wallet_service_secret: serviceSecret,
      wallet_webhook_secret: webhookSecret,
      ...(walletQuestionsPerSecond === undefined ? {} : { questions_per_second: walletQuestionsPerSecond }),
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch(onViolation('vaults_code_key', () => conflict('already_exists', `The vault code ${code} is taken`)))
  await insertStructure(trx, id, plan, by)
  await insertSystemGroups(trx, { vaultId: id, creatorId: caller.userId, now })
  const target = { type: 'vault', id }
  const details = {
    code,
    name,
    walletServiceUrl,
    ...(walletQuestionsPerSecond === undefined ? {} : { walletQuestionsPerSecond }),
    walletServiceSecretMark: markInRecord(serviceSecret),
    walletWebhookSecretMark: markInRecord(webhookSecret),
    structure: summaryOf(plan),
  }
  await audit(trx, { ...byPlatform(by), vaultId: id }, 'vault.created', target, details)
  // Platform administrators may know that a vault exists, but not its content.
  await audit(trx, byPlatform(by), 'vault.created', target, { code, name })
  return (await findVault(trx, id))!
}

/**
 * Changes any property except the structure. A stored bearer secret is never sent to an origin for which it was not set. A new
 * wallet service of a vault with addresses must have been probed, because it decides who holds the keys (T61).
 * @throws 400 for invalid settings of the wallet service, or a new origin without a new secret; 409 while transfers are in
 *   flight, and when the vault changed since the probe; ProbeNeededError
 */
export async function updateVault(
  trx: Trx,
  { config, sealer }: Pick<Deps, 'config' | 'sealer'>,
  body: Static<typeof VaultUpdate>,
  by: ByMember,
  probed: Probed | null,
): Promise<VaultWithStructure | Refusal> {
  const { id } = by.member.vault
  const faults = faultsOfWallet(body, config, '')
  if (faults.length > 0) throw faulty(faults)
  const vault = await lockVaultRow(trx, id)
  const { walletServiceSecret, walletWebhookSecret, ...shown } = body
  if (
    body.walletServiceUrl !== undefined &&
    walletServiceSecret === undefined &&
    vault.wallet_service_secret !== null &&
    new URL(body.walletServiceUrl).origin !== new URL(vault.wallet_service_url).origin
  ) {
    throw badRequest('walletServiceSecret', 'is required (or null) when walletServiceUrl moves to another origin')
  }
  const accepted = await probeWallet(trx, sealer, vault, body, by, probed)
  if ('refusal' in accepted) return accepted
  await assertHomeOfSecrets(trx, vault, body)
  const home = { id, wallet_service_url: body.walletServiceUrl ?? vault.wallet_service_url }
  const serviceSecret = sealed(sealer, home, 'wallet_service_secret', walletServiceSecret)
  const webhookSecret =
    walletWebhookSecret === undefined && vault.wallet_webhook_secret !== null
      ? redirected(sealer, vault, home, vault.wallet_webhook_secret)
      : sealed(sealer, home, 'wallet_webhook_secret', walletWebhookSecret)
  await trx
    .updateTable('vaults')
    // Kysely leaves undefined fields out of the statement.
    .set({
      name: body.name,
      description: body.description,
      logo_uri: body.logoUri,
      wallet_service_url: body.walletServiceUrl,
      wallet_service_secret: serviceSecret,
      wallet_webhook_secret: webhookSecret,
      questions_per_second: body.walletQuestionsPerSecond,
      wallet_key: accepted.shown?.walletKey,
      updated_at: by.now,
    })
    .where('id', '=', id)
    .execute()
  if (body.walletServiceUrl !== undefined || walletServiceSecret !== undefined) await forgetWalletMark(trx, id)
  const pinned = accepted.shown === null ? {} : await pinShownKeys(trx, id, accepted.shown, by.now)
  const details = {
    changes: shown,
    ...pinned,
    isWalletServiceSecretChanged: walletServiceSecret !== undefined,
    isWalletWebhookSecretChanged: walletWebhookSecret !== undefined,
    ...(serviceSecret === undefined ? {} : { walletServiceSecretMark: markInRecord(serviceSecret) }),
    ...(webhookSecret === undefined ? {} : { walletWebhookSecretMark: markInRecord(webhookSecret) }),
  }
  const walletService = walletServiceChange(vault, body)
  if (walletService === null) await audit(trx, byMember(by), 'vault.updated', { type: 'vault', id }, details)
  else {
    await announceVaultChange(trx, {
      ...byMember(by),
      action: 'vault.updated',
      targetType: 'vault',
      targetId: id,
      details,
      words: { sentence: `The wallet service of the vault ${quote(vault.name)} was changed`, ...walletService },
    })
  }
  return (await findVault(trx, id))!
}

/**
 * Refuses a secret without a URL if the row names another wallet service than the record. Such a secret is for the
 * recorded wallet service. @throws 502
 */
async function assertHomeOfSecrets(
  trx: Trx,
  vault: VaultRow,
  { walletServiceUrl, walletServiceSecret, walletWebhookSecret }: Static<typeof VaultUpdate>,
): Promise<void> {
  const isGiven = typeof walletServiceSecret === 'string' || typeof walletWebhookSecret === 'string'
  if (!isGiven || walletServiceUrl !== undefined) return
  const recorded = await readRecordedWallet(trx, vault.id)
  if (recorded.isCreated && recorded.walletServiceUrl === vault.wallet_service_url) return
  throw notAsRecorded(differencesOfWallet(vault, recorded)[0] ?? 'its URL differs')
}

/**
 * Switches the protection of the vault on or off: payments of a protected vault must be signed. The change is recorded
 * and announced.
 */
export async function updateProtection(
  trx: Trx,
  { protection }: Static<typeof ProtectionUpdate>,
  by: ByMember,
): Promise<VaultWithStructure> {
  const { id } = by.member.vault
  const { name, protection: before } = await lockVaultRow(trx, id)
  if (before !== protection) {
    await trx.updateTable('vaults').set({ protection, updated_at: by.now }).where('id', '=', id).execute()
    await announceVaultChange(trx, {
      ...byMember(by),
      action: 'vault.protection_updated',
      targetType: 'vault',
      targetId: id,
      details: { before, after: protection },
      words: {
        sentence: `The protection of the vault ${quote(name)} was changed`,
        before: { protection: before },
        after: { protection },
      },
    })
  }
  return (await findVault(trx, id))!
}

/**
 * Decides whether a new wallet service may replace the present one, and returns the keys to which it is bound. A difference
 * is announced like the change itself, because somebody tried to move the keys.
 */
async function probeWallet(
  trx: Trx,
  sealer: Deps['sealer'],
  vault: VaultRow,
  { walletServiceUrl = vault.wallet_service_url, walletServiceSecret }: Static<typeof VaultUpdate>,
  by: ByMember,
  probed: Probed | null,
): Promise<Refusal | Pick<Probed, 'shown'>> {
  if (walletServiceUrl === vault.wallet_service_url && walletServiceSecret === undefined) return { shown: null }
  await assertNoneInFlight(trx, vault.id)
  const newestAddressId = await findNewestAddressId(trx, vault.id)
  if (newestAddressId === null && vault.wallet_key === null) return { shown: null }
  if (probed === null) {
    const secret =
      walletServiceSecret === undefined
        ? vault.wallet_service_secret
        : sealed(
            sealer,
            { id: vault.id, wallet_service_url: walletServiceUrl },
            'wallet_service_secret',
            walletServiceSecret,
          )
    const { networks, routes } = (await findVault(trx, vault.id))!
    const isBound = ({ address_check: check }: (typeof networks)[number]) => check === 'derived'
    throw new ProbeNeededError({
      wallet: { id: vault.id, wallet_service_url: walletServiceUrl, wallet_service_secret: secret },
      replaces: { ...vault, newestAddressId },
      samples: await pickSamples(trx, vault.id),
      unchecked: await pickUnchecked(trx, vault.id),
      pinned: await listAccountKeys(trx, vault.id),
      bound: networks.filter(isBound).map(({ slug }) => slug),
      accounts: accountsOf({ networks: networks.filter((network) => !isBound(network)), routes }),
    })
  }
  const { candidate, difference, shown } = probed
  const { replaces } = candidate
  const isSame = isSameWallet(replaces, vault) && replaces.wallet_key === vault.wallet_key
  if (replaces.newestAddressId !== newestAddressId || !isSame) {
    throw conflict('changed_concurrently', 'The vault changed while the new wallet service was probed; try again')
  }
  if (difference === null) return { shown }
  const { network, derivationPath } = difference
  const message = `The new wallet service has another address or key for ${derivationPath} on ${network}`
  const { origin } = new URL(walletServiceUrl)
  await announceVaultChange(trx, {
    ...byMember(by),
    action: 'vault.wallet_refused',
    targetType: 'vault',
    targetId: vault.id,
    details: { origin, network, derivationPath },
    words: {
      sentence: `A new wallet service of the vault ${quote(vault.name)} was refused, because its addresses differ`,
      after: { 'origin of walletServiceUrl': origin, 'address that differs': `${derivationPath} on ${network}` },
    },
  })
  return { refusal: conflict('wallet_differs', message) }
}

/** Refuses a change while transfers are in flight. @throws 409 with their number */
async function assertNoneInFlight(trx: Trx, vaultId: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from deliveries d
    join transfers t on t.vault_id = d.vault_id and t.id = d.id and ${isOneOf('t.phase', openPhases)}
    where d.vault_id = ${vaultId}`.execute(trx)
  const { count } = rows[0]!
  if (count === 0) return
  const transfers = count === 1 ? '1 transfer of the vault is' : `${count} transfers of the vault are`
  throw conflict('transfers_in_flight', `${transfers} in flight; change the wallet service when none is`)
}

/**
 * Returns the announced change of the wallet service; null if it is unchanged. Only the origin of its URL is shown,
 * because paths and queries may contain secrets.
 */
function walletServiceChange(
  vault: VaultRow,
  {
    walletServiceUrl = vault.wallet_service_url,
    walletServiceSecret,
    walletWebhookSecret,
    walletQuestionsPerSecond = vault.questions_per_second,
  }: Static<typeof VaultUpdate>,
): Pick<ChangeInWords, 'before' | 'after'> | null {
  const isUrlKept = walletServiceUrl === vault.wallet_service_url
  const isRateKept = walletQuestionsPerSecond === vault.questions_per_second
  if (isUrlKept && isRateKept && walletServiceSecret === undefined && walletWebhookSecret === undefined) return null
  const rate = (perSecond: number) => (isRateKept ? {} : { walletQuestionsPerSecond: perSecond })
  const [from, to] = [new URL(vault.wallet_service_url), new URL(walletServiceUrl)]
  return {
    before: { 'origin of walletServiceUrl': from.origin, ...rate(vault.questions_per_second) },
    after: {
      'origin of walletServiceUrl': to.origin,
      'path of walletServiceUrl': from.href === to.href || from.origin !== to.origin ? null : 'changed',
      walletServiceSecret: changeOfSecret(walletServiceSecret),
      walletWebhookSecret: changeOfSecret(walletWebhookSecret),
      ...rate(walletQuestionsPerSecond),
    },
  }
}

function changeOfSecret(secret: string | null | undefined): 'removed' | 'replaced' | null {
  if (secret === undefined) return null
  return secret === null ? 'removed' : 'replaced'
}
