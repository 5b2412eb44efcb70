import { sql } from 'kysely'
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres'
import { isAdministrators, isEveryone } from '../../../access/system-groups.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { nameOfUser } from '../../record/notifications/names.ts'

type Reader = Db | Trx
export type InvitationRow = Awaited<ReturnType<typeof listInvitations>>[number]

/** Invitations of a vault, newest first. */
export function listInvitations(db: Reader, vaultId: string, status?: string) {
  let query = selectInvitations(db).where('invitations.vault_id', '=', vaultId)
  if (status !== undefined) query = query.where('invitations.status', '=', status)
  return query.orderBy('invitations.created_at', 'desc').orderBy('invitations.id', 'desc').execute()
}

/** An invitation, if the caller administers its vault; to everyone else it does not exist. */
export async function findInvitation(db: Reader, callerId: string, id: string): Promise<InvitationRow | null> {
  const row = await selectInvitations(db)
    .where('invitations.id', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('policy_group_memberships as m')
          .innerJoin('policy_groups as g', (join) =>
            join.onRef('g.vault_id', '=', 'm.vault_id').onRef('g.id', '=', 'm.group_id'),
          )
          .select('m.id')
          .whereRef('m.vault_id', '=', 'invitations.vault_id')
          .where('m.user_id', '=', callerId)
          .where(isAdministrators('g')),
      ),
    )
    .executeTakeFirst()
  return row ?? null
}

function selectInvitations(db: Reader) {
  return db.selectFrom('invitations').select(({ selectFrom }) => [
    'invitations.id',
    'invitations.vault_id',
    'invitations.email',
    'invitations.token_sealed',
    'invitations.status',
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
    jsonObjectFrom(
      selectFrom('users')
        .select(['users.id', 'users.name', 'users.email'])
        .whereRef('users.id', '=', 'invitations.created_by_id'),
    )
      .$notNull()
      .as('created_by'),
    jsonObjectFrom(
      selectFrom('users')
        .select(['users.id', 'users.name', 'users.email'])
        .whereRef('users.id', '=', 'invitations.accepted_user_id'),
    ).as('accepted_user'),
  ])
}

type InvitableGroup = {
  id: string
  vaultId: string
  vaultCode: string
  isEveryone: boolean
  isMember: boolean
  isAdmin: boolean
}

/** The groups among `groupIds` that exist, each with how the caller stands in its vault. */
export async function listInvitableGroups(db: Reader, callerId: string, groupIds: string[]): Promise<InvitableGroup[]> {
  const { rows } = await sql<InvitableGroup>`
    select g.id, g.vault_id as "vaultId", v.code as "vaultCode",
      ${isEveryone('g')} as "isEveryone",
      coalesce(c.is_member, false) as "isMember", coalesce(c.is_admin, false) as "isAdmin"
    from policy_groups g
    join vaults v on v.id = g.vault_id
    left join lateral (
      select true as is_member, bool_or(${isAdministrators('own')}) as is_admin
      from policy_group_memberships m
      join policy_groups own on own.vault_id = m.vault_id and own.id = m.group_id
      where m.vault_id = g.vault_id and m.user_id = ${callerId}
      having count(*) > 0
    ) c on true
    where g.id = any(${groupIds})`.execute(db)
  return rows
}

/** Whether a pending invitation waits for the e-mail; with `tokenHash`, whether it is that one. */
export async function hasPendingInvitation(db: Reader, email: string, tokenHash: Buffer | null): Promise<boolean> {
  let query = db.selectFrom('invitations').select('id').where('email', '=', email).where('status', '=', 'pending')
  if (tokenHash !== null) query = query.where('token_hash', '=', tokenHash)
  return (await query.limit(1).executeTakeFirst()) !== undefined
}

/** Whom a pending invitation's token invites, and where to; null when it is unknown, accepted or revoked. */
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

/** What the mail of an invitation says; null when it is pending no more. */
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
