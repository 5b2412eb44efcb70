import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { toSeal } from '../../record/seals/present.ts'
import type { SealRow } from '../../record/seals/queries.ts'
import { pathOf, type SealedLeaf } from '../../record/seals/seal-content.ts'
import { listSealedContents } from './ledger-seals.ts'

type EntryRow = {
  sequence: string
  kind: string
  tokenId: string
  debitAccountId: string | null
  creditAccountId: string | null
  amount: string
  debitBalance: string | null
  creditBalance: string | null
  createdAt: Date
}

/** Minutes by which the clock of the node that sealed may be behind the clock of the node that wrote the entry. */
const clockSkewMinutes = 10

/** Returns the ledger entries of an operation, each with the content that its seal covers and the proof that the seal holds it. */
export async function getLedgerEvidence(db: Db | Trx, vaultId: string, operationId: string) {
  const { rows: entries } = await sql<EntryRow>`
    select e.sequence, e.kind, e.token_id as "tokenId", d.id as "debitAccountId", c.id as "creditAccountId", e.amount,
      e.debit_balance as "debitBalance", e.credit_balance as "creditBalance", e.created_at as "createdAt"
    from ledger_entries e
    left join ledger_accounts d on d.vault_id = e.vault_id and d.token_id = e.token_id and d.number = e.debit_account
    left join ledger_accounts c on c.vault_id = e.vault_id and c.token_id = e.token_id and c.number = e.credit_account
    where e.vault_id = ${vaultId} and e.operation_id = ${operationId} order by e.sequence`.execute(db)
  const sequences = entries.map(({ sequence }) => sequence)
  const contents = await listSealedContents(db, vaultId, sequences)
  const seals = await listSealsOf(db, vaultId, sequences)
  return {
    ledgerEntries: entries.map((entry, index) => {
      const { content } = contents[index]!
      const seal = seals.find(({ record_ids }) => record_ids.includes(entry.sequence))
      const hash = sha256(content).toString('hex')
      return { ...entry, createdAt: entry.createdAt.toISOString(), content, hash, ...placeOf(entry.sequence, seal) }
    }),
    ledgerSeals: seals.map((seal) => {
      const { records, ...head } = toSeal(seal)
      return { ...head, size: records.length }
    }),
  }
}

function placeOf(sequence: string, seal: SealRow | undefined) {
  if (seal === undefined) return { sealSequence: null, proof: null }
  const index = seal.record_ids.indexOf(sequence)
  const leaves = seal.record_ids.map((id, i): SealedLeaf => ({ id, hash: seal.record_hashes[i]! }))
  const path = pathOf(leaves, index).map((hash) => hash.toString('hex'))
  return { sealSequence: Number(seal.sequence), proof: { index, path } }
}

/** Returns the seals that hold these entries. The seal of an entry is among the first seals that were made after the entry. */
async function listSealsOf(db: Db | Trx, vaultId: string, sequences: string[]): Promise<SealRow[]> {
  const { rows } = await sql<SealRow>`
    select distinct on (s.sequence) s.* from unnest(${sequences}::bigint[]) i(sequence)
    join ledger_entries e on e.sequence = i.sequence and e.vault_id = ${vaultId}
    cross join lateral (
      select * from ledger_seals l
      where l.chain = ${vaultId} and l.sealed_at >= e.created_at - make_interval(mins => ${clockSkewMinutes})
        and l.record_ids @> array[e.sequence::text]
      order by l.sealed_at limit 1) s
    order by s.sequence`.execute(db)
  return rows
}
