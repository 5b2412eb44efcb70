import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import type { SealRow } from '../../record/seals/queries.ts'
import {
  type ChainReport,
  type JudgeSealed,
  leavesOf,
  newReport,
  type SealFault,
  type TrustedKeys,
  verifySeals,
} from '../../record/seals/verify-chain.ts'
import { readSealedEntries } from '../ledger/ledger-seals.ts'

type Options = { vaultId?: string | null; trusted?: TrustedKeys; signal?: AbortSignal | null }

/**
 * Verifies the seals of the ledger, vault by vault. Each entry, its accounts and its subject must be as they were when it was
 * sealed. No entry may be missing, and each must be in a seal or wait for one. Reads one snapshot, in pages.
 *
 * @throws the reason of `signal` when it aborts, before the next page
 */
export async function verifyLedgerSeals(
  db: Db,
  { vaultId = null, trusted = null, signal = null }: Options = {},
): Promise<ChainReport[]> {
  return readSnapshot(db, async (trx) => {
    const reports: ChainReport[] = []
    for (const chain of vaultId === null ? await listVaults(trx) : [vaultId]) {
      const report = newReport(chain)
      const open = async (_trx: Trx, seals: SealRow[]) => {
        signal?.throwIfAborted()
        return openEntries(trx, chain, seals)
      }
      report.fault =
        (await verifySeals(trx, report, { log: 'ledger', chain, trusted, open })) ??
        (await verifyNoneBeside(trx, chain, report))
      reports.push(report)
    }
    return reports
  })
}

/** Every vault that has entries or seals of entries. */
async function listVaults(trx: Trx): Promise<string[]> {
  const { rows } = await sql<{ chain: string }>`
    with recursive chains as (
      select least((select min(vault_id) from ledger_entries), (select min(chain) from ledger_seals)) as chain
      union all
      select least((select min(e.vault_id) from ledger_entries e where e.vault_id > c.chain),
        (select min(s.chain) from ledger_seals s where s.chain > c.chain))
      from chains c where c.chain is not null
    )
    select chain from chains where chain is not null`.execute(trx)
  return rows.map(({ chain }) => chain)
}

async function openEntries(trx: Trx, chain: string, seals: SealRow[]): Promise<JudgeSealed> {
  // An id that is not the number of an entry is found missing below.
  const ids = seals.flatMap((seal) => seal.record_ids).filter((id) => /^[1-9]\d{0,17}$/.test(id))
  const entries = await readSealedEntries(trx, chain, ids)
  const found = new Map(entries.map(({ id, hash }) => [id, hash]))
  return (seal) => {
    for (const { id, hash } of leavesOf(seal)) {
      const now = found.get(id)
      if (now === undefined) return faultOf('missing', id, `seal ${seal.sequence} holds it, but it is missing`, seal)
      if (!now.equals(hash))
        return faultOf('changed', id, `the entry, one of its accounts or its operation differs from the seal`, seal)
    }
    return null
  }
}

function faultOf(kind: SealFault['kind'], id: string, detail: string, seal: SealRow | null): SealFault {
  const sealSequence = seal === null ? null : Number(seal.sequence)
  return { kind, recordId: id, sealSequence, detail: `entry ${id}: ${detail}` }
}

/** Checks the entries that no seal holds: entries of the last seconds wait for a seal, others were inserted. */
async function verifyNoneBeside(trx: Trx, chain: string, report: ChainReport): Promise<SealFault | null> {
  // A set operation is sorted or hashed, whatever the planner expects of the lists of the seals.
  const { rows } = await sql<{ waiting: number; inserted: string | null }>`
    select (
      select count(distinct u.sequence)::int from ledger_unsealed u
      join ledger_entries e on e.sequence = u.sequence and e.vault_id = u.vault_id
      where u.vault_id = ${chain}
    ) as waiting, (
      select sequence::text from (
        select sequence from ledger_entries where vault_id = ${chain}
        except (
          select unnest(record_ids)::bigint from ledger_seals where chain = ${chain}
          union all
          select sequence from ledger_unsealed where vault_id = ${chain}
        )
      ) beside order by sequence limit 1
    ) as inserted`.execute(trx)
  const { waiting, inserted } = rows[0]!
  report.unsealedRecords = waiting
  return inserted === null ? null : faultOf('inserted', inserted, 'no seal holds it, and it waits for none', null)
}
