import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { audit, platformChain } from '../modules/record/audit/record.ts'

/** Writes the records of people whom tests insert into the database without a sign-in. */
export async function recordPeople({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  await inTransaction(db, async (trx) => {
    const by = { vaultId: null, actorId: null, now: clock() }
    const users = await trx
      .selectFrom('users')
      .selectAll()
      .where('kind', '=', 'person')
      .where('id', 'not in', (records) =>
        records
          .selectFrom('audit_records')
          .select('target_id')
          .where('chain', '=', platformChain)
          .where('action', '=', 'user.created')
          .$narrowType<{ target_id: string }>(),
      )
      .execute()
    for (const { id, email, is_platform_admin } of users) {
      await audit(trx, by, 'user.created', { type: 'user', id }, { email })
      if (is_platform_admin) await audit(trx, by, 'platform_admin.added', { type: 'user', id }, { email })
    }
  })
}
