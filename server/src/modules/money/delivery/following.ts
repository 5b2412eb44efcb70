import { type RawBuilder, sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { vaultsIn } from '../transfers/vaults-in-queue.ts'

/** The age up to which an answer counts as present. */
const heardSeconds = 120

/** SQL: true if the changes of the wallet service of a vault are followed, so that its transfers are seldom asked about. */
export const isFollowed = (vaultId: RawBuilder<unknown>, now: Date): RawBuilder<boolean> => sql`exists (
  select from followings f where f.vault_id = ${vaultId} and f.since is not null
    and f.heard_at > ${now}::timestamptz - make_interval(secs => ${heardSeconds}))`

/** A vault whose wallet service this node follows until `leaseEndsAt`. */
export type Following = {
  vaultId: string
  /** The cursor of the last answer; null for the first question. */
  cursor: string | null
  since: Date | null
  fruitless: number
  leaseEndsAt: Date
}

/** Claims vaults with transfers in flight whose wallet service no node follows now, those first that have waited longest. */
export async function claimFollowings(
  db: Db,
  { now, leaseEndsAt, limit }: { now: Date; leaseEndsAt: Date; limit: number },
): Promise<Following[]> {
  const { rows } = await sql<Omit<Following, 'leaseEndsAt'>>`${prepared}
    insert into followings as f (vault_id, ask_at)
    select due.vault_id, ${leaseEndsAt}::timestamptz from (
      select v.vault_id from ${vaultsIn('follow')} v left join followings k on k.vault_id = v.vault_id
      where k.vault_id is null or k.ask_at <= ${now} order by k.ask_at nulls first, v.vault_id limit ${limit}) due
    order by due.vault_id
    on conflict (vault_id) do update set ask_at = excluded.ask_at where f.ask_at <= ${now}
    returning f.vault_id as "vaultId", f.cursor, f.since, f.fruitless`.execute(db)
  return rows.map((row) => ({ ...row, leaseEndsAt }))
}

/** The columns that change after an answer, or after a call without an answer. */
export type Rest = Pick<Following, 'cursor' | 'since' | 'fruitless'> & {
  heardAt: Date | null
  askAt: Date
  strangers?: number
}

/** Ends a claim and stores its result. @throws LostClaimError when another node follows by now */
export async function restUntilNext(trx: Trx, { vaultId, leaseEndsAt }: Following, rest: Rest): Promise<void> {
  const { numAffectedRows } = await sql`
    update followings set cursor = ${rest.cursor}, since = ${rest.since}, heard_at = coalesce(${rest.heardAt}, heard_at),
      fruitless = ${rest.fruitless}, ask_at = ${rest.askAt}, strangers = strangers + ${rest.strangers ?? 0}
    where vault_id = ${vaultId} and ask_at = ${leaseEndsAt}`.execute(trx)
  if (numAffectedRows !== 1n) throw new LostClaimError('Another node follows the wallet service by now')
}

export class LostClaimError extends Error {}

/**
 * Schedules questions by id about all transfers of a vault, because a change may have been missed. Claimed transfers are being
 * asked about already.
 */
export async function askAboutAll(trx: Trx, vaultId: string, now: Date, after: Date): Promise<void> {
  await sql`
    update deliveries set next_attempt_at = ${now}
    where queue = 'follow' and vault_id = ${vaultId} and next_attempt_at > ${after}`.execute(trx)
}

/** Counts a change that was found by a question about its transfer, and not by the report of the change. */
export async function countFound(db: Db, vaultId: string): Promise<void> {
  await sql`update followings set found_by_question = found_by_question + 1 where vault_id = ${vaultId}`.execute(db)
}

/** Returns the ids that are not transfers of the vault. */
export async function listStrangers(trx: Trx, vaultId: string, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: string }>`
    select n.id from unnest(${ids}::text[]) n (id)
    where not exists (select from transfers t where t.vault_id = ${vaultId} and t.id = n.id)`.execute(trx)
  return rows.map(({ id }) => id)
}
