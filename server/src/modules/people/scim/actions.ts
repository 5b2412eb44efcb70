import type { DirectoryCaller } from '../../../access/directory.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { emailPattern } from '../../../http/schema.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { emailLengthMax, nameLengthMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { resumePerson, stopPerson } from '../directories/stops.ts'
import { createPersonOf, disableUser } from '../users/actions.ts'
import { type ByDirectory, isVersion } from './by-directory.ts'
import { addressOf, inOrder, nameOfPerson, type Person } from './person.ts'
import { findPerson, lockPerson, type PersonRow } from './queries.ts'
import { notPresentVersion, notUnique, scimFault } from './scim-fault.ts'

/**
 * Adds a person to a directory, and creates an account if their e-mail address has no account. A new account is in no vault.
 * @throws 400 for an address of another domain, 409 for a name or an address that the directory already has
 */
export async function addPerson(trx: Trx, sent: Person, by: ByDirectory): Promise<PersonRow> {
  const { directory, now } = by
  const person = inOrder({ active: true, ...sent })
  const address = assertAddress(directory, person)
  const name = nameOfPerson(person)?.slice(0, nameLengthMax) ?? null
  const { userId, isNew } = await createPersonOf(trx, { email: address, name }, now)
  await leaveFormerDirectory(trx, directory, userId)
  await trx
    .insertInto('directory_people')
    .values({
      user_id: userId,
      directory_id: directory.id,
      ...columnsOf(person),
      version: 1,
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch(
      onViolation('directory_people_pkey', () => notUnique('The directory already names the person of this address')),
    )
    .catch(onViolation('directory_people_user_name', () => notUnique('userName: the directory already has it')))
  await audit(trx, platform(now), 'directory.person_added', targetOf(directory), { userId, ...recorded(person) })
  if (person.active === false) await stopNew(trx, { userId, isNew }, by)
  else await resumePerson(trx, { directory, userId, now })
  return (await findPerson(trx, directory.id, userId))!
}

/**
 * Changes the attributes of a person of a directory. A change of `active` disables or enables the account. The e-mail address of
 * the account stays, because a directory that could change it could give the account to another person.
 * @throws 400, 404, 409, 412
 */
export async function changePerson(
  trx: Trx,
  userId: string,
  change: (before: Person) => Person,
  by: ByDirectory,
): Promise<PersonRow> {
  const { directory, now } = by
  const row = await lockVersion(trx, userId, by)
  const before = toPerson(row)
  const after = inOrder({ active: true, ...change(before) })
  if (isSameJson(before, after)) return row
  assertAddress(directory, after)
  await trx
    .updateTable('directory_people')
    .set({ ...columnsOf(after), version: row.version + 1, updated_at: now })
    .where('user_id', '=', userId)
    .execute()
    .catch(onViolation('directory_people_user_name', () => notUnique('userName: the directory already has it')))
  const changed = changedFields(recorded(before), recorded(after)) ?? {}
  await audit(trx, platform(now), 'directory.person_updated', targetOf(directory), { userId, ...changed })
  if (before.active !== after.active)
    await (after.active === true ? resumePerson : stopPerson)(trx, { directory, userId, now })
  return (await findPerson(trx, directory.id, userId))!
}

/** Removes a person from a directory, and stops them. @throws 404, 409, 412 */
export async function removePerson(trx: Trx, userId: string, by: ByDirectory): Promise<void> {
  const { directory, now } = by
  await lockVersion(trx, userId, by)
  await stopPerson(trx, { directory, userId, now })
  await trx.deleteFrom('directory_people').where('user_id', '=', userId).execute()
  await audit(trx, platform(now), 'directory.person_removed', targetOf(directory), { userId })
}

/** Returns a person with the attributes that the directory sent last. */
export const toPerson = (row: PersonRow): Person =>
  inOrder({
    ...row.attributes,
    userName: row.user_name,
    active: row.active,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
  })

/** Stops a person who is added with `active: false`. The stop of a new account never waits, because the account has no rights yet. */
async function stopNew(
  trx: Trx,
  { userId, isNew }: { userId: string; isNew: boolean },
  { directory, now }: ByDirectory,
): Promise<void> {
  if (!isNew) {
    await stopPerson(trx, { directory, userId, now })
    return
  }
  await disableUser(trx, userId, now)
  const details = { reason: 'It stopped them', directory: directory.name }
  await audit(trx, platform(now), 'user.disabled', { type: 'user', id: userId }, details)
  await trx
    .insertInto('directory_stops')
    .values({ user_id: userId, directory_id: directory.id, asked_at: now, held: false })
    .execute()
}

/** Removes a person from a directory that is no longer active, so that the directory of the domain can add them. */
async function leaveFormerDirectory(trx: Trx, { id }: DirectoryCaller, userId: string): Promise<void> {
  await trx
    .deleteFrom('directory_people as p')
    .using('directories as d')
    .whereRef('d.id', '=', 'p.directory_id')
    .where('p.user_id', '=', userId)
    .where('d.id', '<>', id)
    .where('d.status', '<>', 'active')
    .execute()
}

async function lockVersion(trx: Trx, userId: string, { directory, version }: ByDirectory): Promise<PersonRow> {
  const row = orNotFound(await lockPerson(trx, directory.id, userId), 'Person')
  if (version !== null && !isVersion(version, row.version)) throw notPresentVersion()
  return row
}

const address = new RegExp(emailPattern)

/** Returns the e-mail address of a person. @throws 400 if it is not an e-mail address of a domain of the directory */
function assertAddress({ domains }: DirectoryCaller, person: Person): string {
  const email = addressOf(person)
  if (email.length > emailLengthMax || !address.test(email))
    throw scimFault('invalidValue', 'emails: must have an e-mail address, or userName must be one')
  if (!domains.includes(email.slice(email.lastIndexOf('@') + 1)))
    throw scimFault('invalidValue', `emails: must be of a domain of the directory (${domains.join(', ')})`)
  return email
}

function columnsOf({ userName, externalId, active, ...attributes }: Person) {
  return {
    user_name: userName!,
    external_id: externalId ?? null,
    active: active !== false,
    attributes: JSON.stringify(attributes),
  }
}

/** Returns the attributes of a person that audit records contain. */
const recorded = (person: Person) => ({
  userName: person.userName,
  externalId: person.externalId ?? null,
  displayName: person.displayName ?? null,
  address: addressOf(person),
  active: person.active !== false,
})

const platform = (now: Date) => ({ vaultId: null, actorId: null, now })
const targetOf = ({ id }: DirectoryCaller) => ({ type: 'directory', id })
