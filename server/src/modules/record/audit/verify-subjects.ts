import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { readOr, readSnapshot } from '../../../db/transaction.ts'
import { auditVerifyPageSubjectsMax, differencesNamedMax } from '../../../lib/limits.ts'
import { listRecordsOf } from './queries.ts'
import type { TargetRecord } from './record.ts'

/** A transfer, payout, approval request or hold whose rows differ from its audit records. */
export type SubjectDifference = { vaultId: string; targetType: string; targetId: string; detail: string }
export type SubjectReport = { checked: number; differences: SubjectDifference[] }

type SubjectKind<Stored extends { id: string }> = {
  table: 'transfers' | 'approval_requests' | 'payouts' | 'holds'
  targetType: 'transfer' | 'approval_request' | 'payout' | 'hold'
  /** The action of the first audit record of every subject. */
  firstAction: string
  listStored(trx: Trx, vaultId: string, ids: string[]): Promise<Stored[]>
  /** Returns the difference between a row and its records, or null. */
  differenceOf(stored: Stored, records: TargetRecord[]): string | null
}

/** Compares every subject of a type with its audit records, in pages of one snapshot. It lists a bounded number of differences. */
export async function verifySubjects<Stored extends { id: string }>(
  db: Db,
  kind: SubjectKind<Stored>,
): Promise<SubjectReport> {
  return readSnapshot(db, async (trx) => {
    const differences = await listVanished(trx, kind)
    let checked = 0
    let after = { vault_id: '', id: '' }
    for (;;) {
      const page = await listPage(trx, kind.table, after)
      const last = page.at(-1)
      if (last === undefined) break
      for (const vaultId of new Set(page.map(({ vault_id }) => vault_id))) {
        const ids = page.filter(({ vault_id }) => vault_id === vaultId).map(({ id }) => id)
        differences.push(...(await compareAll(trx, kind, vaultId, ids)))
      }
      checked += page.length
      after = last
    }
    return { checked, differences: differences.slice(0, differencesNamedMax) }
  })
}

async function compareAll<Stored extends { id: string }>(
  trx: Trx,
  kind: SubjectKind<Stored>,
  vaultId: string,
  ids: string[],
): Promise<SubjectDifference[]> {
  const { targetType, listStored, differenceOf } = kind
  const stored = await readOr(
    trx,
    () => listStored(trx, vaultId, ids),
    () => null,
  )
  if (stored === null) return compareAlone(trx, kind, vaultId, ids)
  const records = new Map<string, TargetRecord[]>(ids.map((id) => [id, []]))
  for (const record of await listRecordsOf(trx, vaultId, targetType, ids)) records.get(record.targetId)?.push(record)
  return stored.flatMap((subject) => {
    const detail = differenceOf(subject, records.get(subject.id) ?? [])
    return detail === null ? [] : [{ vaultId, targetType, targetId: subject.id, detail }]
  })
}

/** Finds the subjects whose rows no statement can read, and compares the others. */
async function compareAlone<Stored extends { id: string }>(
  trx: Trx,
  kind: SubjectKind<Stored>,
  vaultId: string,
  ids: string[],
): Promise<SubjectDifference[]> {
  const { targetType } = kind
  const [targetId, ...others] = ids
  if (targetId === undefined) return []
  if (others.length === 0) return [{ vaultId, targetType, targetId, detail: 'its rows cannot be read' }]
  const differences: SubjectDifference[] = []
  for (const id of ids) differences.push(...(await compareAll(trx, kind, vaultId, [id])))
  return differences
}

async function listPage(
  trx: Trx,
  table: SubjectKind<{ id: string }>['table'],
  after: { vault_id: string; id: string },
): Promise<{ vault_id: string; id: string }[]> {
  return trx
    .selectFrom(table)
    .select(['vault_id', 'id'])
    .where(sql<boolean>`(vault_id, id) > (${after.vault_id}, ${after.id})`)
    .orderBy('vault_id')
    .orderBy('id')
    .limit(auditVerifyPageSubjectsMax)
    .execute()
}

/** Returns recorded subjects whose row is gone. */
async function listVanished(
  trx: Trx,
  { table, targetType, firstAction }: Pick<SubjectKind<{ id: string }>, 'table' | 'targetType' | 'firstAction'>,
): Promise<SubjectDifference[]> {
  const { rows } = await sql<SubjectDifference>`
    select r.chain as "vaultId", r.target_type as "targetType", r.target_id as "targetId", 'its row is gone' as detail
    from audit_records r
    where r.action = ${firstAction} and r.target_type = ${targetType} and not exists (
      select from ${sql.table(table)} s where s.vault_id = r.chain and s.id = r.target_id)
    order by r.chain, r.id limit ${differencesNamedMax}`.execute(trx)
  return rows
}
