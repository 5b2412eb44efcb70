import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { ProviderRow } from './queries.ts'

/** Returns the settings on which two people agree. */
export const settingsOf = (row: ProviderRow) => ({
  name: row.name,
  issuer: row.issuer,
  clientId: row.client_id,
  domains: row.domains,
  linking: row.linking,
  sessionHours: row.session_hours,
})

/** Returns a digest of the settings and the client secret, so that a sign-in is valid only for the settings with which it began. */
export const digestOfSettings = (row: ProviderRow): string =>
  sha256(canonicalJson({ ...settingsOf(row), secret: row.client_secret?.toString('base64') ?? null })).toString(
    'base64url',
  )
