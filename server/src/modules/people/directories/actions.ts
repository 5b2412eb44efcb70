import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import { directoryTokenPrefix } from '../../../access/directory.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { directoryOverlapHours, directoryTokenDays } from '../../../lib/limits.ts'
import { newSecret, sha256 } from '../../../lib/secrets.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { holdPlatformChange } from '../../registry/platform-changes/actions.ts'
import type { PlatformChangeRow } from '../../registry/platform-changes/queries.ts'
import { type DirectoryRow, findDirectory, isWaiting, listVaultIdsOfDomains, lockDirectory } from './queries.ts'
import type { CreateDirectory, RotateDirectoryToken, UpdateDirectory } from './schema.ts'

const hourMilliseconds = 3_600_000

/** Creates a directory as a draft, whose token works after its activation. Returns the token, which is shown once. */
export async function createDirectory(
  trx: Trx,
  { name, domains, tokenDays = directoryTokenDays }: CreateDirectory,
  by: ByCaller,
): Promise<{ row: DirectoryRow; token: string }> {
  const id = newId(by.now)
  const token = newSecret(directoryTokenPrefix)
  await trx
    .insertInto('directories')
    .values({
      id,
      name,
      domains,
      status: 'draft',
      token_hash: sha256(token),
      token_expires_at: inHours(by.now, 24 * tokenDays),
      created_by_id: by.caller.userId,
      created_at: by.now,
      updated_at: by.now,
    })
    .execute()
  const row = await readDirectory(trx, id)
  await audit(trx, byPlatform(by), 'directory.created', targetOf(id), { ...settingsOf(row), ...endsOf(row) })
  return { row, token }
}

/** Changes a directory that is not active. @throws 404, 409; 403 for a caller who did not create it */
export async function updateDirectory(
  trx: Trx,
  id: string,
  { name, domains }: UpdateDirectory,
  by: ByCaller,
): Promise<DirectoryRow> {
  const before = await lockChangeable(trx, id, by)
  // Kysely leaves undefined fields out of the statement.
  await trx.updateTable('directories').set({ name, domains, updated_at: by.now }).where('id', '=', id).execute()
  const after = await readDirectory(trx, id)
  await audit(trx, byPlatform(by), 'directory.updated', targetOf(id), {
    ...changedFields(settingsOf(before), settingsOf(after)),
  })
  return after
}

/** Asks another platform administrator to activate a directory with exactly these settings. @throws 403, 404, 409 */
export async function askToActivate(trx: Trx, id: string, by: ByCaller): Promise<PlatformChangeRow> {
  const payload = settingsOf(await lockChangeable(trx, id, by))
  return holdPlatformChange(trx, { action: 'directory_activate', targetId: id, payload }, by)
}

/** Activates a directory after another platform administrator confirmed its settings. @throws 404; 409 if the settings differ now */
export async function activateDirectory(
  trx: Trx,
  id: string,
  payload: Record<string, unknown>,
  by: ByCaller,
): Promise<void> {
  const directory = await lockAndRead(trx, id)
  if (directory.status === 'active' || !isSameJson(settingsOf(directory), payload))
    throw conflict('wrong_state', 'The directory was changed after its activation was asked for')
  await trx
    .insertInto('directory_domains')
    .values(directory.domains.toSorted().map((domain) => ({ domain, directory_id: id })))
    .execute()
    .catch(
      onViolation('directory_domains_pkey', () =>
        conflict('already_exists', 'Another active directory has one of these domains'),
      ),
    )
  await setStatus(trx, id, 'active', by.now)
  await announceDirectory(trx, 'activated', directory, by)
}

/** Deactivates an active directory: its tokens are refused at once. No person is enabled or disabled. @throws 404, 409 */
export async function deactivateDirectory(trx: Trx, id: string, by: ByCaller): Promise<DirectoryRow> {
  const directory = await lockAndRead(trx, id)
  if (directory.status !== 'active') throw conflict('wrong_state', 'The directory is not active')
  await trx.deleteFrom('directory_domains').where('directory_id', '=', id).execute()
  await setStatus(trx, id, 'off', by.now)
  await announceDirectory(trx, 'stopped', directory, by)
  return readDirectory(trx, id)
}

/** Makes another token. The present token works for `overlapHours` more hours; an earlier token is refused. @throws 404 */
export async function rotateDirectoryToken(
  trx: Trx,
  id: string,
  { tokenDays = directoryTokenDays, overlapHours = directoryOverlapHours }: RotateDirectoryToken,
  by: ByCaller,
): Promise<{ row: DirectoryRow; token: string }> {
  const { token_hash: hash, token_expires_at: end } = await lockAndRead(trx, id)
  const token = newSecret(directoryTokenPrefix)
  await trx
    .updateTable('directories')
    .set({
      token_hash: sha256(token),
      token_expires_at: inHours(by.now, 24 * tokenDays),
      previous_token_hash: hash,
      previous_token_expires_at: new Date(Math.min(inHours(by.now, overlapHours).getTime(), end.getTime())),
      updated_at: by.now,
    })
    .where('id', '=', id)
    .execute()
  const row = await readDirectory(trx, id)
  await announceDirectory(trx, 'token_rotated', row, by, endsOf(row))
  return { row, token }
}

async function announceDirectory(
  trx: Trx,
  verb: 'activated' | 'stopped' | 'token_rotated',
  directory: DirectoryRow,
  { caller, now }: ByCaller,
  more: Record<string, unknown> = {},
): Promise<void> {
  const { id, name } = directory
  const details = { ...settingsOf(directory), ...more }
  const event = { actorId: caller.userId, action: `directory.${verb}`, targetType: 'directory', targetId: id }
  const done = verb === 'token_rotated' ? 'got another token' : `was ${verb}`
  const words = { sentence: `The directory ${quote(name)} ${done}`, after: details }
  const vaultIds = await listVaultIdsOfDomains(trx, directory.domains)
  await announceRegistryChange(trx, { ...event, details, now, words }, vaultIds)
}

async function setStatus(trx: Trx, id: string, status: 'active' | 'off', now: Date): Promise<void> {
  await trx.updateTable('directories').set({ status, updated_at: now }).where('id', '=', id).execute()
}

async function lockChangeable(trx: Trx, id: string, by: ByCaller): Promise<DirectoryRow> {
  const directory = await lockAndRead(trx, id)
  if (directory.created_by_id !== by.caller.userId)
    throw forbidden('not_permitted', 'Only the platform administrator who created the directory changes it')
  if (directory.status === 'active') throw conflict('wrong_state', 'An active directory is not changed; stop it first')
  if (await isWaiting(trx, id)) throw conflict('wrong_state', 'The activation waits for another platform administrator')
  return directory
}

async function lockAndRead(trx: Trx, id: string): Promise<DirectoryRow> {
  if (!(await lockDirectory(trx, id))) throw notFound('Directory')
  return readDirectory(trx, id)
}

const readDirectory = async (trx: Trx, id: string): Promise<DirectoryRow> => (await findDirectory(trx, id))!
const inHours = (now: Date, hours: number) => new Date(now.getTime() + hours * hourMilliseconds)
const targetOf = (id: string) => ({ type: 'directory', id })

/** Returns the settings on which two people agree. */
const settingsOf = ({ name, domains }: DirectoryRow) => ({ name, domains })
const endsOf = (row: DirectoryRow) => ({ tokenExpiresAt: row.token_expires_at.toISOString() })
