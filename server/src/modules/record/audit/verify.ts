import type { Db, Trx } from '../../../db/client.ts'
import { recordKeyOf } from '../../../db/record-key.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import { auditVerifyPageRecordsMax, differencesNamedMax } from '../../../lib/limits.ts'
import type { SealRow } from '../seals/queries.ts'
import {
  type ChainReport,
  type JudgeSealed,
  leavesOf,
  newReport,
  type SealFault,
  type TrustedKeys,
  verifySeals,
} from '../seals/verify-chain.ts'
import {
  type AuditRecordRow,
  findAuditRecord,
  findNextChain,
  findRecordBeyondSeals,
  listRecordsOfSeals,
  listUnsealedRecordsAfter,
} from './queries.ts'
import { faultOfMac, faultOfRecord } from './record.ts'

/**
 * Verifies the audit log: the hash and the MAC of every record, its columns against its content, and every seal with
 * its signature and its link to the previous seal. It reads one snapshot in pages, so that it may run beside the
 * service and on a log of any length.
 */
export async function verifyAudit(db: Db, trusted: TrustedKeys = null): Promise<ChainReport[]> {
  return readSnapshot(db, async (trx) => {
    const reports: ChainReport[] = []
    for (let chain = await findNextChain(trx, ''); chain !== null; chain = await findNextChain(trx, chain)) {
      reports.push(await verifyChain(trx, chain, trusted))
    }
    return reports
  })
}

/** Verifies one seal chain of the audit log as `verifyAudit` does, in a snapshot of its own. */
export function verifyAuditChain(db: Db, chain: string, trusted: TrustedKeys = null): Promise<ChainReport> {
  return readSnapshot(db, (trx) => verifyChain(trx, chain, trusted))
}

async function verifyChain(trx: Trx, chain: string, trusted: TrustedKeys): Promise<ChainReport> {
  const report = newReport(chain)
  report.fault =
    (await verifySeals(trx, report, { log: 'audit', chain, trusted, open: openRecords })) ??
    (await verifyNoneBeyond(trx, report)) ??
    (await verifyUnsealed(trx, report))
  report.forged = await listForged(trx, chain)
  return report
}

async function openRecords(trx: Trx, seals: [SealRow, ...SealRow[]]): Promise<JudgeSealed> {
  const [first] = seals
  const expected = seals.reduce((sum, seal) => sum + seal.record_ids.length, 0)
  const range: [string, string] = [first.sequence, seals.at(-1)!.sequence]
  const records = await listRecordsOfSeals(trx, first.chain, range, expected + 1)
  return (seal) =>
    faultOfSealedRecords(
      trx,
      seal,
      records.filter((record) => record.seal_sequence === seal.sequence),
    )
}

async function faultOfSealedRecords(trx: Trx, seal: SealRow, records: AuditRecordRow[]): Promise<SealFault | null> {
  const fault = (kind: SealFault['kind'], recordId: string, detail: string) =>
    faultOf(kind, recordId, Number(seal.sequence), detail)
  const found = new Map(records.map((record) => [record.id, record]))
  for (const { id, hash } of leavesOf(seal)) {
    const record = found.get(id)
    if (record === undefined) {
      const elsewhere = await findAuditRecord(trx, seal.chain, id)
      return elsewhere === undefined
        ? fault('missing', id, `seal ${seal.sequence} holds it, but the record is missing`)
        : fault('changed', id, `seal ${seal.sequence} holds it, but it names seal ${elsewhere.seal_sequence ?? 'none'}`)
    }
    const recordFault = faultOfRecord(record, recordKeyOf(trx))
    if (recordFault !== null) return fault('changed', id, recordFault)
    if (!record.hash.equals(hash)) return fault('changed', id, `seal ${seal.sequence} holds another hash of it`)
    found.delete(id)
  }
  const extra = found.keys().next().value
  return extra === undefined ? null : fault('inserted', extra, `seal ${seal.sequence} does not hold it`)
}

function faultOf(kind: SealFault['kind'], recordId: string, sealSequence: number | null, detail: string): SealFault {
  return { kind, recordId, sealSequence, detail: `record ${recordId}: ${detail}` }
}

async function verifyNoneBeyond(trx: Trx, report: ChainReport): Promise<SealFault | null> {
  const last = String(report.head?.sequence ?? 0)
  const beyond = await findRecordBeyondSeals(trx, report.chain, last)
  if (beyond === undefined) return null
  const { id, seal_sequence: sequence } = beyond
  return faultOf('inserted', id, Number(sequence), `it names seal ${sequence}, which is not there`)
}

async function verifyUnsealed(trx: Trx, report: ChainReport): Promise<SealFault | null> {
  for await (const { record, fault } of judgeUnsealed(trx, report.chain)) {
    if (fault !== null) return faultOf('changed', record.id, null, fault)
    report.unsealedRecords += 1
  }
  return null
}

/** Returns the ids of records that the service did not write, which it never seals; a bounded number. */
async function listForged(trx: Trx, chain: string): Promise<string[]> {
  const forged: string[] = []
  const key = recordKeyOf(trx)
  for await (const { record } of judgeUnsealed(trx, chain)) {
    if (faultOfMac(key, record) !== null) forged.push(record.id)
    if (forged.length === differencesNamedMax) break
  }
  return forged
}

async function* judgeUnsealed(
  trx: Trx,
  chain: string,
): AsyncGenerator<{ record: AuditRecordRow; fault: string | null }> {
  const key = recordKeyOf(trx)
  let after = ''
  for (;;) {
    const records = await listUnsealedRecordsAfter(trx, chain, after, auditVerifyPageRecordsMax)
    for (const record of records) yield { record, fault: faultOfRecord(record, key) }
    if (records.length < auditVerifyPageRecordsMax) return
    after = records.at(-1)!.id
  }
}
