import type { ProviderRow } from './queries.ts'
import type { IdentityProvider } from './schema.ts'

/** Returns the paths of a provider at this service. They contain its id, so that answers of two providers are not confused. */
export const pathsOf = (id: string) => ({
  start: `/auth/oidc/${id}/start`,
  callback: `/auth/oidc/${id}/callback`,
  logout: `/auth/oidc/${id}/backchannel-logout`,
})

export function toIdentityProvider(row: ProviderRow, origin: string): IdentityProvider {
  const { callback, logout } = pathsOf(row.id)
  return {
    id: row.id,
    name: row.name,
    issuer: row.issuer,
    clientId: row.client_id,
    domains: row.domains,
    linking: row.linking,
    sessionHours: row.session_hours,
    status: row.status,
    enforce: row.enforce,
    hasClientSecret: row.client_secret !== null,
    redirectUri: `${origin}${callback}`,
    logoutUri: `${origin}${logout}`,
    triedAt: row.tried_at?.toISOString() ?? null,
    triedEmail: row.tried_email,
    createdById: row.created_by_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
