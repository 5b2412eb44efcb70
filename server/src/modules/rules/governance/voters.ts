import { type RawBuilder, sql } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'

/** An open request for votes on a change set. */
type OpenVote = { requestId: string; askedAt: Date }

type Voter = { vaultId: string; userId: string }

/**
 * Returns the request for votes on a submitted change set, found by the id of the change set or of the request, as long as it waits
 * and this person is entitled to vote on it; otherwise null. A person who has voted stays entitled until the request is decided.
 */
export async function findOpenVote(
  db: Db,
  { vaultId, userId }: Voter,
  named: { changeSetId: string } | { requestId: string },
  now: Date,
): Promise<OpenVote | null> {
  const isNamed = 'requestId' in named ? sql`r.id = ${named.requestId}` : sql`c.id = ${named.changeSetId}`
  const { rows } = await openVotes({ vaultId, userId }, isNamed, now).execute(db)
  return rows[0] ?? null
}

/** Returns true if the member is entitled to vote on any waiting change set. */
export async function votesOnRules(db: Db, { vault, userId }: Member, now: Date): Promise<boolean> {
  const { rows } = await openVotes({ vaultId: vault.id, userId }, sql`true`, now).execute(db)
  return rows.length > 0
}

const openVotes = ({ vaultId, userId }: Voter, condition: RawBuilder<unknown>, now: Date) => sql<OpenVote>`
  select r.id as "requestId", r.created_at as "askedAt" from change_sets c
  join approval_requests r on r.vault_id = c.vault_id and r.id = c.request_id
  where c.vault_id = ${vaultId} and ${condition} and c.status = 'submitted' and r.status = 'pending'
    and r.expires_at > ${now} and exists (
      select from entitled_voters e
      where e.vault_id = r.vault_id and e.subject_id = r.id and e.user_id = ${userId})
  limit 1`
