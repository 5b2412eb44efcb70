import { type RawBuilder, sql } from 'kysely'
import { type Db, prepared, type Trx } from '../db/client.ts'
import { isWithin } from '../lib/networks.ts'
import { sha256 } from '../lib/secrets.ts'
import type { Caller, Member, Protection } from './caller.ts'
import { isEveryone, isHeldEverywhere, isHeldUser, membershipOf } from './memberships.ts'
import type { Scope } from './scopes.ts'

export const serviceTokenPrefix = 'srk_'

export type Authenticated = {
  caller: Caller
  member: Member | null
  vaultExists: boolean
  session: SessionTimes | null
  serviceToken: TokenUse | null
}
type SessionTimes = { id: string; lastSeenAt: Date; endsAt: Date }
/** The last use of a service token, as it is stored. */
export type TokenUse = { vaultId: string; id: string; lastUsedAt: Date | null; lastUsedFrom: string | null }

type MembershipRow = {
  vault_id: string | null
  vault_code: string | null
  vault_name: string | null
  locked_at: Date | null
  protection: Protection | null
  group_ids: string[]
  everyone_id: string | null
  is_admin: boolean
  is_auditor: boolean
  is_held: boolean
}

type Row = MembershipRow & {
  user_id: string
  kind: 'person' | 'service'
  email: string | null
  is_platform_admin: boolean
  session_id: string | null
  token_id: string | null
  token_vault_id: string | null
  token_networks: string[] | null
  token_scopes: Scope[] | null
  last_used_from: string | null
  last_seen_at: Date | null
  ends_at: Date | null
  expires_at: Date | null
}

/**
 * Returns the caller of a session or service token and, when the path names a vault, the caller as its member. Returns null for a token
 * that is not valid, also for a service token that is used outside its networks. It reads the database at each request, through
 * indexes, so that a removed membership or session ends with the next request on every node.
 */
export async function authenticate(
  db: Db,
  { token, ip }: { token: string; ip: string },
  vaultCode: string | null,
  now: Date,
): Promise<Authenticated | null> {
  const hash = sha256(token)
  const credential = token.startsWith(serviceTokenPrefix)
    ? sql`select t.user_id, null::text as session_id, t.id as token_id, t.vault_id as token_vault_id,
            t.networks as token_networks, t.scopes as token_scopes, t.last_used_from,
            t.last_used_at as last_seen_at, null::timestamptz as ends_at, t.expires_at
          from service_tokens t
          where t.token_hash = ${hash} and t.revoked_at is null and (t.expires_at is null or t.expires_at > ${now})`
    : sql`select s.user_id, s.id as session_id, null::text as token_id, null::text as token_vault_id,
            null::text[] as token_networks, null::text[] as token_scopes, null::text as last_used_from,
            s.last_seen_at, s.ends_at, s.expires_at
          from sessions s where s.token_hash = ${hash} and s.expires_at > ${now} and s.ends_at > ${now}`
  const { rows } = await sql<Row>`${prepared}
    select u.id as user_id, u.kind, u.email, u.is_platform_admin, c.session_id, c.token_id,
      c.token_vault_id, c.token_networks, c.token_scopes, c.last_used_from, c.last_seen_at, c.ends_at, c.expires_at,
      ${membershipColumns(sql`u.id`)}
    from (${credential}) c
    join users u on u.id = c.user_id and u.disabled_at is null and not ${isHeldEverywhere('u')}
    left join vaults v on v.code = ${vaultCode}
    cross join lateral ${membershipOf(sql`v.id`, sql`u.id`)} g
    ${joinEveryone}`.execute(db)
  const row = rows[0]
  if (row === undefined || (row.token_networks !== null && !isWithin(ip, row.token_networks))) return null
  return toAuthenticated(row)
}

function toAuthenticated(row: Row): Authenticated {
  const caller: Caller = {
    userId: row.user_id,
    kind: row.kind,
    email: row.email,
    isPlatformAdmin: row.is_platform_admin,
    sessionId: row.session_id,
    expiresAt: row.expires_at,
    scopes: row.token_scopes,
  }
  return {
    caller,
    vaultExists: row.vault_id !== null,
    member: toMember(caller, row),
    session:
      row.session_id !== null && row.last_seen_at !== null && row.ends_at !== null
        ? { id: row.session_id, lastSeenAt: row.last_seen_at, endsAt: row.ends_at }
        : null,
    serviceToken:
      row.token_id === null || row.token_vault_id === null
        ? null
        : {
            vaultId: row.token_vault_id,
            id: row.token_id,
            lastUsedAt: row.last_seen_at,
            lastUsedFrom: row.last_used_from,
          },
  }
}

const membershipColumns = (userId: RawBuilder<unknown>) => sql`
  v.id as vault_id, v.code as vault_code, v.name as vault_name, v.locked_at, v.protection,
  coalesce(g.group_ids, '{}') as group_ids, g.is_admin, g.is_auditor, e.id as everyone_id,
  ${isHeldUser(sql`v.id`, userId)} as is_held`
const joinEveryone = sql`left join policy_groups e on e.vault_id = v.id and ${isEveryone('e')}`

function toMember(caller: Caller, row: MembershipRow): Member | null {
  if (row.vault_id === null || row.group_ids.length === 0) return null
  return {
    ...caller,
    vault: {
      id: row.vault_id,
      code: row.vault_code!,
      name: row.vault_name!,
      lockedAt: row.locked_at,
      protection: row.protection!,
    },
    groupIds: row.everyone_id === null ? row.group_ids : [...row.group_ids, row.everyone_id],
    isAdmin: row.is_admin,
    isAuditor: row.is_auditor,
    readsAll: row.is_admin || row.is_auditor,
    isHeld: row.is_held,
  }
}

/** Returns a caller as a member of a vault that the request names outside its path. */
export async function findMember(
  db: Db,
  caller: Caller,
  vaultCode: string,
): Promise<{ vaultExists: boolean; member: Member | null }> {
  const { rows } = await sql<MembershipRow>`${prepared}
    select ${membershipColumns(sql`${caller.userId}::text`)} from vaults v
    cross join lateral ${membershipOf(sql`v.id`, sql`${caller.userId}::text`)} g
    ${joinEveryone}
    where v.code = ${vaultCode}`.execute(db)
  const row = rows[0]
  return { vaultExists: row !== undefined, member: row === undefined ? null : toMember(caller, row) }
}

/** Returns a user as a member of a vault, for an earlier request or a path without a vault; null if they are no longer a member. */
export async function findMemberById(db: Db | Trx, vaultId: string, userId: string): Promise<Member | null> {
  const { rows } = await sql<
    MembershipRow & { user_id: string; kind: Caller['kind']; email: string | null; is_platform_admin: boolean }
  >`
    select u.id as user_id, u.kind, u.email, u.is_platform_admin, ${membershipColumns(sql`u.id`)}
    from users u join vaults v on v.id = ${vaultId}
    cross join lateral ${membershipOf(sql`v.id`, sql`u.id`)} g
    ${joinEveryone}
    where u.id = ${userId} and u.disabled_at is null`.execute(db)
  const row = rows[0]
  if (row === undefined) return null
  const { kind, email, is_platform_admin: isPlatformAdmin } = row
  return toMember({ userId, kind, email, isPlatformAdmin, sessionId: null, expiresAt: null, scopes: null }, row)
}
