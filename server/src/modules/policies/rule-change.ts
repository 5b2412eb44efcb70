import type { Trx } from '../../db/client.ts'
import { type AuditEvent, insertAuditRecord } from '../audit/record.ts'
import { type Audience, notifyOfRuleChange } from '../notifications/write.ts'

/** A change to what a vault allows and to who decides it. */
export type RuleChange = AuditEvent & { vaultId: string }

/**
 * Puts a change of the rules on the audit record, and tells the administrators of the vault and whom else it concerns,
 * in its transaction: nobody weakens a rule and uses that unnoticed.
 */
export async function recordRuleChange(trx: Trx, change: RuleChange, audience: Audience = {}): Promise<void> {
  const auditRecordId = await insertAuditRecord(trx, change)
  await notifyOfRuleChange(trx, { ...change, auditRecordId }, audience)
}
