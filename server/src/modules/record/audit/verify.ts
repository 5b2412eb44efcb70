import type { Db, Trx } from '../../../db/client.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import { auditVerifyPageRecordsMax, auditVerifyPageSealsMax } from '../../../lib/limits.ts'
import { faultOfRecord, genesisHash, hashSeal } from './content.ts'
import {
  type AuditRecordRow,
  type AuditSealRow,
  findAuditRecord,
  findNextChain,
  findRecordBeyondSeals,
  listRecordsOfSeals,
  listSealsAfter,
  listUnsealedRecordsAfter,
} from './queries.ts'

export type AuditFault = {
  kind: 'changed' | 'missing' | 'inserted'
  /** null: the fault is in the seal itself. */
  recordId: string | null
  /** null: no seal holds the record yet. */
  sealSequence: number | null
  detail: string
}

export type ChainReport = {
  /** Id of the vault, or `platform`. */
  chain: string
  sealedRecords: number
  /** Records of the last seconds, which no seal holds yet: only their own hash is checked. */
  unsealedRecords: number
  seals: number
  /** The hash of the last seal. Keep a copy elsewhere: a rewritten chain has a different one. */
  head: { sequence: number; hash: string } | null
  /** The first fault of the chain; records after it were not checked. */
  fault: AuditFault | null
}

/**
 * Verifies the audit log: the hash of every record and its columns against its content, and every seal with its link to
 * the one before. Reads one snapshot in pages, so that it may run beside the service and on a log of any length.
 */
export async function verifyAudit(db: Db): Promise<ChainReport[]> {
  return readSnapshot(db, async (trx) => {
    const reports: ChainReport[] = []
    for (let chain = await findNextChain(trx, ''); chain !== null; chain = await findNextChain(trx, chain)) {
      reports.push(await verifyChain(trx, chain))
    }
    return reports
  })
}

async function verifyChain(trx: Trx, chain: string): Promise<ChainReport> {
  const report: ChainReport = {
    chain,
    sealedRecords: 0,
    unsealedRecords: 0,
    seals: 0,
    head: null,
    fault: null,
  }
  report.fault =
    (await verifySeals(trx, report)) ?? (await verifyNoneBeyond(trx, report)) ?? (await verifyUnsealed(trx, report))
  return report
}

async function verifySeals(trx: Trx, report: ChainReport): Promise<AuditFault | null> {
  let previous: { sequence: string; hash: Buffer } = { sequence: '0', hash: genesisHash }
  for (;;) {
    const seals = await listSealsAfter(trx, report.chain, previous.sequence, auditVerifyPageSealsMax)
    const first = seals[0]
    const last = seals.at(-1)
    if (first === undefined || last === undefined) return null
    const expected = seals.reduce((sum, seal) => sum + seal.record_ids.length, 0)
    const records = await listRecordsOfSeals(trx, report.chain, [first.sequence, last.sequence], expected + 1)
    for (const seal of seals) {
      const ofSeal = records.filter((record) => record.seal_sequence === seal.sequence)
      const fault = faultOfSeal(seal, previous) ?? (await faultOfSealedRecords(trx, seal, ofSeal))
      if (fault !== null) return fault
      report.seals += 1
      report.sealedRecords += seal.record_ids.length
      report.head = { sequence: Number(seal.sequence), hash: seal.hash.toString('hex') }
      previous = seal
    }
  }
}

function faultOfSeal(seal: AuditSealRow, previous: { sequence: string; hash: Buffer }): AuditFault | null {
  const sequence = BigInt(seal.sequence)
  const expected = BigInt(previous.sequence) + 1n
  if (sequence !== expected) {
    return { kind: 'missing', recordId: null, sealSequence: Number(expected), detail: `seal ${expected} is missing` }
  }
  const changed = (detail: string): AuditFault => ({
    kind: 'changed',
    recordId: null,
    sealSequence: Number(sequence),
    detail: `seal ${sequence}: ${detail}`,
  })
  if (!seal.previous_hash.equals(previous.hash)) return changed('it does not continue the seal before it')
  const hash = hashSeal({
    chain: seal.chain,
    sequence,
    previousHash: seal.previous_hash,
    records: toEntries(seal),
    sealedAt: seal.sealed_at,
  })
  return hash.equals(seal.hash) ? null : changed('its content does not have its hash')
}

async function faultOfSealedRecords(
  trx: Trx,
  seal: AuditSealRow,
  records: AuditRecordRow[],
): Promise<AuditFault | null> {
  const fault = (kind: AuditFault['kind'], recordId: string, detail: string): AuditFault => ({
    kind,
    recordId,
    sealSequence: Number(seal.sequence),
    detail: `record ${recordId}: ${detail}`,
  })
  const found = new Map(records.map((record) => [record.id, record]))
  for (const { id, hash } of toEntries(seal)) {
    const record = found.get(id)
    if (record === undefined) {
      const elsewhere = await findAuditRecord(trx, seal.chain, id)
      return elsewhere === undefined
        ? fault('missing', id, `seal ${seal.sequence} holds it, but the record is missing`)
        : fault('changed', id, `seal ${seal.sequence} holds it, but it names seal ${elsewhere.seal_sequence ?? 'none'}`)
    }
    const own = faultOfRecord(record)
    if (own !== null) return fault('changed', id, own)
    if (!record.hash.equals(hash)) return fault('changed', id, `seal ${seal.sequence} holds another hash of it`)
    found.delete(id)
  }
  const extra = found.keys().next().value
  return extra === undefined ? null : fault('inserted', extra, `seal ${seal.sequence} does not hold it`)
}

async function verifyNoneBeyond(trx: Trx, report: ChainReport): Promise<AuditFault | null> {
  const last = String(report.head?.sequence ?? 0)
  const beyond = await findRecordBeyondSeals(trx, report.chain, last)
  if (beyond === undefined) return null
  return {
    kind: 'inserted',
    recordId: beyond.id,
    sealSequence: Number(beyond.seal_sequence),
    detail: `record ${beyond.id}: it names seal ${beyond.seal_sequence}, which is not there`,
  }
}

async function verifyUnsealed(trx: Trx, report: ChainReport): Promise<AuditFault | null> {
  let after = ''
  for (;;) {
    const records = await listUnsealedRecordsAfter(trx, report.chain, after, auditVerifyPageRecordsMax)
    for (const record of records) {
      const own = faultOfRecord(record)
      if (own !== null) {
        return { kind: 'changed', recordId: record.id, sealSequence: null, detail: `record ${record.id}: ${own}` }
      }
      report.unsealedRecords += 1
      after = record.id
    }
    if (records.length < auditVerifyPageRecordsMax) return null
  }
}

function toEntries(seal: AuditSealRow): { id: string; hash: Buffer }[] {
  return seal.record_ids.map((id, index) => ({ id, hash: seal.record_hashes[index] ?? Buffer.alloc(0) }))
}
