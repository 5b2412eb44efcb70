import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { serviceTokenWarningDays } from '../../../lib/limits.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'

type Ending = { vaultId: string; id: string; days: number }

/** Announces service tokens 14 days, 3 days and a day before they end, each once, so that no program stops unexpectedly. */
export async function tellEndsOfTokens({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const now = clock()
  for (const ending of await listEnding(db, now)) await inTransaction(db, (trx) => announceEnd(trx, ending, now))
}

/** Returns the tokens with an announcement that is due. A token whose whole life is shorter than the days gets none for them. */
async function listEnding(db: Db, now: Date): Promise<Ending[]> {
  const { rows } = await sql<Ending>`
    select t.vault_id as "vaultId", t.id, min(d.days) as days
    from service_tokens t
    join users u on u.id = t.user_id and u.disabled_at is null
    join unnest(${[...serviceTokenWarningDays]}::int[]) as d(days) on t.expires_at <= ${now}::timestamptz + d.days * interval '1 day'
      and t.expires_at - t.created_at > d.days * interval '1 day'
    where t.revoked_at is null and t.expires_at > ${now}
    group by t.vault_id, t.id
    having t.told_days is null or t.told_days > min(d.days)
    order by t.vault_id, t.id`.execute(db)
  return rows
}

async function announceEnd(trx: Trx, { vaultId, id, days }: Ending, now: Date): Promise<void> {
  const token = await trx
    .updateTable('service_tokens')
    .set({ told_days: days })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where((is) => is.or([is('told_days', 'is', null), is('told_days', '>', days)]))
    .returning(['name', 'user_id', 'expires_at'])
    .executeTakeFirst()
  if (token === undefined) return
  const expiresAt = token.expires_at!.toISOString()
  const within = days === 1 ? 'a day' : `${days} days`
  const sentence = `The service token ${quote(token.name)} ends within ${within}; the program that uses it is refused then`
  await announceVaultChange(trx, {
    vaultId,
    actorId: null,
    action: 'service_token.ending',
    targetType: 'service_token',
    targetId: id,
    details: { name: token.name, userId: token.user_id, expiresAt },
    now,
    words: { sentence, after: { 'valid until': expiresAt } },
  })
}
