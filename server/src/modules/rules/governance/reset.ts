import { sql } from 'kysely'
import { isEveryone } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { endOutdated } from './apply.ts'
import { noGovernance } from './document.ts'
import { readGovernance } from './queries.ts'
import { lockRules, publishRules } from './versions.ts'

type Reset = { code: string; reason: string; operator: string; now: Date }

/**
 * Switches the governance of a vault off, for an operator of the service: when too few of those who vote are left, nobody in the
 * vault can. Every member gets a mail. What waited for votes or for its time is out of date.
 * @throws when there is no such vault, or it has no governance
 */
export async function resetGovernance(trx: Trx, { code, reason, operator, now }: Reset): Promise<void> {
  const { rows } = await sql<{ id: string; everyoneId: string }>`
    select v.id, g.id as "everyoneId" from vaults v join policy_groups g on g.vault_id = v.id and ${isEveryone('g')}
    where v.code = ${code}`.execute(trx)
  const [vault] = rows
  if (vault === undefined) throw new Error(`There is no vault ${JSON.stringify(code)}`)
  await lockRules(trx, vault.id, now)
  const before = await readGovernance(trx, vault.id)
  if (before.threshold === 0) throw new Error(`The vault ${code} has no governance`)
  await sql`delete from governance where vault_id = ${vault.id}`.execute(trx)
  const { number } = await publishRules(trx, vault.id, { actorId: null, now })
  await endOutdated(trx, vault.id, { number, exceptId: null, now })
  await announceVaultChange(
    trx,
    {
      vaultId: vault.id,
      actorId: null,
      action: 'governance.reset',
      targetType: 'vault',
      targetId: vault.id,
      details: { before, after: noGovernance, reason, operator },
      words: {
        sentence: 'An operator of the service switched the governance of the vault off',
        before: { threshold: before.threshold },
        after: { threshold: 0, reason, operator },
      },
      now,
    },
    { groupIds: [vault.everyoneId] },
  )
}
