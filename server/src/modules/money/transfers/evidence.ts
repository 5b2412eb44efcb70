import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { toSeal } from '../../record/seals/present.ts'
import type { SealRow } from '../../record/seals/queries.ts'
import { toVoteEvidence } from '../../rules/signatures/queries.ts'
import { getLedgerEvidence } from '../ledger/ledger-evidence.ts'
import { readSignatures } from '../orders/signatures.ts'
import type { TransferEvidence } from './evidence-schema.ts'
import { toTransfer } from './present.ts'
import type { TransferRow } from './queries.ts'

/** Returns a transfer with all the records behind it; hashes are hex. */
export async function getEvidence(db: Db | Trx, row: TransferRow): Promise<Static<typeof TransferEvidence>> {
  const { vault_id: vaultId, id: transferId } = row
  const auditRecords = await db
    .selectFrom('audit_records')
    .select(['content', 'hash', 'seal_sequence'])
    .where('chain', '=', vaultId)
    // For a row of a payout, also the records of the payout, which hold the votes.
    .where('target_id', 'in', row.payout_id === null ? [transferId] : [transferId, row.payout_id])
    .orderBy('id')
    .execute()
  const sequences = new Set(
    auditRecords.map(({ seal_sequence }) => seal_sequence).filter((sequence) => sequence !== null),
  )
  const { rows: seals } = await sql<Omit<SealRow, 'chain'> & { records: { id: string; hash: string }[] }>`
    select s.*, (
      select json_agg(json_build_object('id', i.id, 'hash', encode(r.hash, 'hex')) order by i.n)
      from unnest(s.record_ids) with ordinality as i(id, n)
      left join audit_records r on r.chain = s.chain and r.id = i.id) as records
    from audit_seals s where s.chain = ${vaultId} and s.sequence = any(${[...sequences]}::bigint[]) order by s.sequence`.execute(
    db,
  )
  const { votes, place } = await readSignatures(db, row, row.payload)
  return {
    schemaVersion: '2',
    transfer: toTransfer(row),
    payload: row.payload,
    payloadHash: row.payload_hash.toString('hex'),
    decision: row.decision,
    signedVotes: votes.map(toVoteEvidence),
    ...(place === null ? {} : { batch: place }),
    ...(await getLedgerEvidence(db, vaultId, transferId)),
    auditRecords: auditRecords.map((record) => ({
      content: record.content,
      hash: record.hash.toString('hex'),
      sealSequence: record.seal_sequence === null ? null : Number(record.seal_sequence),
    })),
    seals: seals.map(({ records, ...seal }) => ({ ...toSeal(seal), records })),
  }
}
