import { sql } from 'kysely'
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres'
import { isEveryone, isHeldUser, membershipOf } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { nameOfUser } from '../../record/notifications/announce.ts'
import type { InvitationStatus } from './schema.ts'

type Reader = Db | Trx
export type InvitationRow = Awaited<ReturnType<typeof listInvitations>>[number]

/** Returns the invitations of a vault, newest first. */
export function listInvitations(db: Reader, vaultId: string, status?: InvitationStatus) {
  let query = selectInvitations(db).where('invitations.vault_id', '=', vaultId)
  if (status !== undefined) query = query.where('invitations.status', '=', status)
  return query.orderBy('invitations.created_at', 'desc').orderBy('invitations.id', 'desc').execute()
}

/** Returns an invitation if the caller administers its vault and no hold stops them; null for all other callers. */
export async function findInvitation(db: Reader, callerId: string, id: string): Promise<InvitationRow | null> {
  const row = await selectInvitations(db)
    .where('invitations.id', '=', id)
    .where(sql<boolean>`(select own.is_admin from ${membershipOf(sql`invitations.vault_id`, sql`${callerId}`)} own)`)
    .where(sql<boolean>`not ${isHeldUser(sql`invitations.vault_id`, sql`${callerId}`)}`)
    .executeTakeFirst()
  return row ?? null
}

function selectInvitations(db: Reader) {
  return db.selectFrom('invitations').select(({ selectFrom }) => [
    'invitations.id',
    'invitations.vault_id',
    'invitations.email',
    'invitations.token_sealed',
    sql<InvitationStatus>`invitations.status`.as('status'),
    'invitations.created_by_id',
    'invitations.accepted_at',
    'invitations.accepted_user_id',
    'invitations.revoked_at',
    'invitations.created_at',
    'invitations.updated_at',
    jsonArrayFrom(
      selectFrom('invitation_groups as ig')
        .innerJoin('policy_groups as g', (join) =>
          join.onRef('g.vault_id', '=', 'ig.vault_id').onRef('g.id', '=', 'ig.group_id'),
        )
        .select(['ig.id', 'ig.invitation_id', 'ig.group_id', 'ig.created_at', 'g.code', 'g.name'])
        .whereRef('ig.vault_id', '=', 'invitations.vault_id')
        .whereRef('ig.invitation_id', '=', 'invitations.id')
        .orderBy('ig.id'),
    ).as('groups'),
    jsonObjectFrom(selectFrom('users as u').select(person).whereRef('u.id', '=', 'invitations.created_by_id'))
      .$notNull()
      .as('created_by'),
    jsonObjectFrom(selectFrom('users as u').select(person).whereRef('u.id', '=', 'invitations.accepted_user_id')).as(
      'accepted_user',
    ),
  ])
}

const person = ['u.id', 'u.name', 'u.email'] as const

type InvitableGroup = VaultRole & { vaultId: string; isEveryone: boolean }
type VaultRole = { isMember: boolean; isAdmin: boolean; isAuditor: boolean }

/** Returns the groups among `groupIds` that exist, each with the role of the caller in its vault. */
export async function listInvitableGroups(db: Reader, callerId: string, groupIds: string[]): Promise<InvitableGroup[]> {
  const { rows } = await sql<InvitableGroup>`
    select g.vault_id as "vaultId", ${isEveryone('g')} as "isEveryone",
      own.is_member and not own.is_held as "isMember", own.is_admin and not own.is_held as "isAdmin",
      own.is_auditor as "isAuditor"
    from policy_groups g
    cross join lateral (
      select m.*, ${isHeldUser(sql`g.vault_id`, sql`${callerId}`)} as is_held
      from ${membershipOf(sql`g.vault_id`, sql`${callerId}`)} m) own
    where g.id = any(${groupIds})`.execute(db)
  return rows
}

/** Returns true if there is a pending invitation of the e-mail address. With `tokenHash`, the invitation must have this token. */
export async function hasPendingInvitation(db: Reader, email: string, tokenHash: Buffer | null): Promise<boolean> {
  let query = db.selectFrom('invitations').select('id').where('email', '=', email).where('status', '=', 'pending')
  if (tokenHash !== null) query = query.where('token_hash', '=', tokenHash)
  return (await query.limit(1).executeTakeFirst()) !== undefined
}

/** Returns the e-mail address and vault of a pending invitation by its token; null when it is unknown, accepted or revoked. */
export async function findInvitedByToken(
  db: Reader,
  tokenHash: Buffer,
): Promise<{ email: string; vaultName: string } | null> {
  const row = await db
    .selectFrom('invitations')
    .innerJoin('vaults', 'vaults.id', 'invitations.vault_id')
    .select(['invitations.email', 'vaults.name as vaultName'])
    .where('invitations.token_hash', '=', tokenHash)
    .where('invitations.status', '=', 'pending')
    .executeTakeFirst()
  return row ?? null
}

/** Returns the facts for the mail of an invitation; null when it is no longer pending. */
export async function findInvitationToMail(db: Reader, vaultId: string, id: string) {
  const row = await db
    .selectFrom('invitations')
    .innerJoin('vaults', 'vaults.id', 'invitations.vault_id')
    .innerJoin('users', 'users.id', 'invitations.created_by_id')
    .select([
      'invitations.email',
      'invitations.token_sealed',
      'invitations.created_at',
      'vaults.name as vaultName',
      nameOfUser('users').as('inviter'),
    ])
    .where('invitations.vault_id', '=', vaultId)
    .where('invitations.id', '=', id)
    .where('invitations.status', '=', 'pending')
    .executeTakeFirst()
  return row ?? null
}
