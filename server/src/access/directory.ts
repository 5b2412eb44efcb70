import { sql } from 'kysely'
import { type Db, prepared } from '../db/client.ts'
import { unauthorized } from '../lib/errors.ts'
import { sha256 } from '../lib/secrets.ts'

export const directoryTokenPrefix = 'srd_'

/** The directory of a company that sends the request. It is not a user, and is not a member of any vault. */
export type DirectoryCaller = { id: string; name: string; domains: string[]; lastSeenAt: Date | null }

/** Returns the active directory of a token that has not expired; null for every other token. */
export async function authenticateDirectory(db: Db, token: string, now: Date): Promise<DirectoryCaller | null> {
  if (!token.startsWith(directoryTokenPrefix)) return null
  const hash = sha256(token)
  const { rows } = await sql<DirectoryCaller>`${prepared}
    select id, name, domains, last_seen_at as "lastSeenAt" from directories
    where status = 'active' and ((token_hash = ${hash} and token_expires_at > ${now})
      or (previous_token_hash = ${hash} and previous_token_expires_at > ${now}))`.execute(db)
  return rows[0] ?? null
}

export function directoryOf(request: { directory: DirectoryCaller | null }): DirectoryCaller {
  if (request.directory === null) throw unauthorized('authentication_required', 'The token of a directory is required')
  return request.directory
}
