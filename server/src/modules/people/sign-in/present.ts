import type { Caller } from '../../../access/caller.ts'
import { toProfile } from '../users/present.ts'
import type { SignedIn } from './actions.ts'
import type { getPerson, SessionRow } from './queries.ts'
import type { CurrentSession, Session, SignIn } from './schema.ts'

export function toSignIn({ token, expiresAt, user }: SignedIn): SignIn {
  return { token, expiresAt: expiresAt.toISOString(), user: toProfile(user) }
}

export function toCurrentSession(
  { row, vaults }: Awaited<ReturnType<typeof getPerson>>,
  expiresAt: Date | null,
): CurrentSession {
  return {
    user: toProfile(row),
    isPlatformAdmin: row.is_platform_admin,
    expiresAt: expiresAt?.toISOString() ?? null,
    vaults,
  }
}

function toProviderOf({ provider_id: id, provider_name: name, auth_time: authenticatedAt }: SessionRow) {
  if (id === null || name === null) return null
  return { id, name, authenticatedAt: authenticatedAt?.toISOString() ?? null }
}

export function toSession(row: SessionRow, caller: Caller): Session {
  return {
    id: row.id,
    method: row.method,
    provider: toProviderOf(row),
    userAgent: row.user_agent,
    ip: row.ip,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    current: row.id === caller.sessionId,
  }
}
