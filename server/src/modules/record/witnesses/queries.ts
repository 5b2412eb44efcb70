import type { Db, Trx } from '../../../db/client.ts'
import { recordKeyOf } from '../../../db/record-key.ts'
import { faultOfRecord } from '../audit/record.ts'

/** The highest version of a vault's authority that the service has seen, and its hash. */
export type WitnessedAuthority = { vaultId: string; version: number; hash: string }

export async function listAuthorityMarks(db: Db | Trx): Promise<WitnessedAuthority[]> {
  const rows = await db
    .selectFrom('authority_marks')
    .select(['vault_id', 'version', 'hash'])
    .orderBy('vault_id')
    .execute()
  return rows.map(({ vault_id: vaultId, version, hash }) => ({ vaultId, version: Number(version), hash }))
}

/** Returns the times when an operator last accepted another authority of a vault, from the records that the service wrote. */
export async function listAcceptances(db: Db | Trx): Promise<{ vaultId: string; at: Date }[]> {
  const records = await db
    .selectFrom('audit_records')
    .selectAll()
    .where('action', '=', 'vault.authority_accepted')
    .orderBy('created_at')
    .execute()
  const key = recordKeyOf(db)
  return records
    .filter((record) => faultOfRecord(record, key) === null)
    .map(({ chain, created_at }) => ({ vaultId: chain, at: created_at }))
}
