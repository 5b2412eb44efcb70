import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { GovernanceSettings } from './document-schema.ts'
import { noGovernance } from './rules-document.ts'

export async function readGovernance(db: Db | Trx, vaultId: string): Promise<GovernanceSettings> {
  const { rows } = await sql<GovernanceSettings>`
    select threshold, approver_group_id as "approverGroupId", loosening_delay_hours as "looseningDelayHours",
      tightening_delay_hours as "tighteningDelayHours"
    from governance where vault_id = ${vaultId}`.execute(db)
  return rows[0] ?? noGovernance
}
