import type { Db } from '../../../db/client.ts'
import { verifyLedger } from '../../money/verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../../money/verifications/verify-seals.ts'
import { verifyAuditChain } from '../../record/audit/verify.ts'
import type { ChainReport } from '../../record/seals/verify-chain.ts'

/** The member `verification.json`: every check that the service made of the vault, and the differences that it found. */
export type Verification = {
  /** ISO 8601, in UTC. */
  at: string
  checked: {
    accounts: number
    entries: number
    operations: number
    ledgerSeals: number
    sealedEntries: number
    auditSeals: number
    sealedRecords: number
  }
  /** At most 100 of a check; `check` is its name. */
  findings: { check: string; message: string }[]
}

/**
 * Recomputes the books of a vault and the seal chains of its ledger and of its audit log.
 *
 * @param trusted the ids of the keys that may have signed the seals
 */
export async function verifyVault(
  db: Db,
  vaultId: string,
  { trusted, at }: { trusted: ReadonlySet<string>; at: Date },
): Promise<Verification> {
  const { differences, checked } = await verifyLedger(db, vaultId)
  const [ledger] = await verifyLedgerSeals(db, { vaultId, trusted })
  const audit = await verifyAuditChain(db, vaultId, trusted)
  return {
    at: at.toISOString(),
    checked: {
      ...checked,
      ledgerSeals: ledger!.seals,
      sealedEntries: ledger!.sealedRecords,
      auditSeals: audit.seals,
      sealedRecords: audit.sealedRecords,
    },
    findings: [
      ...differences.map(({ kind, detail }) => ({ check: kind, message: detail })),
      ...faultOf('seals of the ledger', ledger!),
      ...faultOf('seals of the audit log', audit),
    ],
  }
}

const faultOf = (check: string, { fault }: ChainReport) => (fault === null ? [] : [{ check, message: fault.detail }])
