import { sql } from 'kysely'
import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { directoryStopsFree } from '../../../lib/limits.ts'
import { audit } from '../../record/audit/record.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { disable, enable } from '../offboarding/offboarding.ts'
import { findDirectory, lockDirectory } from './queries.ts'
import type { DecideStops } from './schema.ts'

type Directory = { id: string; name: string }
type Stop = { directory: Directory; userId: string; now: Date }

/**
 * Disables a person because their directory says that they left (contract 2.13). Above the brake the stop waits for a platform
 * administrator. If a platform administrator disabled the person, nothing changes: the directory cannot enable them later.
 * @throws 409 for the last platform administrator and for break-glass people
 */
export async function stopPerson(trx: Trx, { directory, userId, now }: Stop): Promise<void> {
  await lockDirectory(trx, directory.id)
  if (await isDisabled(trx, userId)) return
  if (await isBreakGlass(trx, userId))
    throw conflict('wrong_state', 'Platform administrators alone stop a break-glass person')
  const earlier = await findStop(trx, userId)
  // A stop of this directory that waits goes on waiting. A stop of an earlier directory is replaced, because this directory
  // answers for the person now.
  if (earlier?.directory_id === directory.id) return
  const held = await isBraked(trx, { directory, userId, now })
  if (held) await announceHeld(trx, { directory, userId, now })
  else await disable(trx, { userId, actorId: null, directory: directory.name, reason: 'It stopped them', now })
  const stop = { directory_id: directory.id, asked_at: now, held, ended_at: null }
  await trx
    .insertInto('directory_stops')
    .values({ user_id: userId, ...stop })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(stop))
    .execute()
}

/** Takes back the stop of a person by this directory. A person whom another directory or an administrator disabled stays disabled. */
export async function resumePerson(trx: Trx, { directory, userId, now }: Stop): Promise<void> {
  const findOwnStop = async () => {
    const stop = await findStop(trx, userId)
    return stop?.directory_id === directory.id ? stop : null
  }
  if ((await findOwnStop()) === null) return
  await lockDirectory(trx, directory.id)
  // Before the lock, a platform administrator may have decided on the stop.
  const stop = await findOwnStop()
  if (stop === null) return
  if (stop.held) {
    await deleteStop(trx, userId)
    await audit(trx, platform(now), 'directory.stop_withdrawn', target(directory.id), { userId })
    return
  }
  await trx.updateTable('directory_stops').set({ ended_at: now }).where('user_id', '=', userId).execute()
  await enable(trx, { userId, actorId: null, directory: directory.name, reason: 'It has them again', now })
}

/** Carries out or discards stops that wait. @throws 404 for a person whose stop does not wait, 403 for oneself, 409 */
export async function decideStops(
  trx: Trx,
  id: string,
  { decision, userIds }: DecideStops,
  by: ByCaller,
): Promise<void> {
  if (!(await lockDirectory(trx, id))) throw notFound('Directory')
  const { name } = (await findDirectory(trx, id))!
  if (decision === 'keep' && userIds.includes(by.caller.userId))
    throw forbidden('other_person_required', 'Another platform administrator must decide on your stop')
  for (const userId of userIds.toSorted()) {
    const stop = await findStop(trx, userId)
    if (stop === null || !stop.held || stop.directory_id !== id) throw notFound('Stop that waits')
    if (decision === 'keep') await deleteStop(trx, userId)
    else await carryOut(trx, { directory: { id, name }, userId, now: by.now }, by.caller.userId)
    await audit(trx, byPlatform(by), 'directory.stop_decided', target(id), { userId, decision })
  }
}

/** Disables a person whose stop waited. The directory can enable them when it reports them as active again. */
async function carryOut(trx: Trx, { directory, userId, now }: Stop, actorId: string): Promise<void> {
  if (!(await isDisabled(trx, userId)))
    await disable(trx, { userId, actorId, directory: directory.name, reason: 'It stopped them', now })
  await trx.updateTable('directory_stops').set({ held: false }).where('user_id', '=', userId).execute()
}

/**
 * Returns true if with this stop the directory would have stopped more than five people, and more than a fifth of its people, within
 * an hour. Members of vaults and platform administrators are also counted alone, so that invented people do not raise the limit.
 * Accounts that were stopped when they were created do not count. A stop that was taken back counts, because it ended sessions and
 * mails.
 */
async function isBraked(trx: Trx, { directory, userId, now }: Stop): Promise<boolean> {
  const since = new Date(now.getTime() - 3_600_000)
  type Counts = { stopped: number; people: number; stopped_members: number; members: number }
  const { rows } = await sql<Counts>`
    with stopped as (
      select s.user_id from directory_stops s join users u on u.id = s.user_id
      where s.directory_id = ${directory.id} and not s.held and s.asked_at > ${since} and s.asked_at > u.created_at
      union select ${userId}::text
    ), people as (
      select user_id from directory_people where directory_id = ${directory.id} union select user_id from stopped
    ), marked as (
      select p.user_id, p.user_id in (select user_id from stopped) as is_stopped,
        u.is_platform_admin or exists (select from policy_group_memberships m where m.user_id = p.user_id) as is_member
      from people p join users u on u.id = p.user_id
    )
    select count(*) filter (where is_stopped)::int as stopped, count(*)::int as people,
      count(*) filter (where is_stopped and is_member)::int as stopped_members,
      count(*) filter (where is_member)::int as members
    from marked`.execute(trx)
  const { stopped, people, stopped_members: stoppedMembers, members } = rows[0]!
  return isTooMany(stopped, people) || isTooMany(stoppedMembers, members)
}

/** Returns true if more than five of the people, and more than a fifth of them, are stopped. */
const isTooMany = (stopped: number, people: number): boolean => stopped > directoryStopsFree && stopped * 5 > people

/** Records a stop that waits. The first one that waits is announced to the platform administrators. */
async function announceHeld(trx: Trx, { directory, userId, now }: Stop): Promise<void> {
  const waiting = await trx
    .selectFrom('directory_stops')
    .select('user_id')
    .where('directory_id', '=', directory.id)
    .where('held', '=', true)
    .limit(1)
    .executeTakeFirst()
  const details = { userId }
  if (waiting !== undefined) {
    await audit(trx, platform(now), 'directory.stop_held', target(directory.id), details)
    return
  }
  const sentence = `The directory ${quote(directory.name)} stopped many people within an hour; further stops wait for you`
  const event = { actorId: null, action: 'directory.stop_held', targetType: 'directory', targetId: directory.id }
  await announceRegistryChange(trx, { ...event, details, now, words: { sentence } }, [])
}

async function isDisabled(trx: Trx, userId: string): Promise<boolean> {
  const row = await trx.selectFrom('users').select('disabled_at').where('id', '=', userId).executeTakeFirstOrThrow()
  return row.disabled_at !== null
}

async function isBreakGlass(trx: Trx, userId: string): Promise<boolean> {
  const query = trx.selectFrom('break_glass_people').select('user_id').where('user_id', '=', userId)
  return (await query.executeTakeFirst()) !== undefined
}

/** Returns the stop that is in force or waits. */
async function findStop(trx: Trx, userId: string): Promise<{ directory_id: string; held: boolean } | null> {
  const query = trx
    .selectFrom('directory_stops')
    .select(['directory_id', 'held'])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
  return (await query.executeTakeFirst()) ?? null
}

async function deleteStop(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('directory_stops').where('user_id', '=', userId).execute()
}

const platform = (now: Date) => ({ vaultId: null, actorId: null, now })
const target = (id: string) => ({ type: 'directory', id })
