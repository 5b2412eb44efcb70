import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { type SealKey, signedText } from '../../../lib/seal-key.ts'
import { findLastSeal, insertSeal } from './queries.ts'
import { genesisHash, hashSeal, rootOfLeaves, type SealedLeaf, type SealLog } from './seal-content.ts'

export type Sealing = { sealKey: SealKey; now: Date }

/** Returns true if this transaction may seal the log. Only one node seals at a time, and the others do not wait. */
export async function takeSealing(trx: Trx, log: SealLog): Promise<boolean> {
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`strongroom seal ${log}`}, 0)) as is_ours`.execute(trx)
  return rows[0]?.is_ours === true
}

/** Seals leaves as the next seal of their seal chain, and returns its number. */
export async function appendSeal(
  trx: Trx,
  { log, chain, leaves }: { log: SealLog; chain: string; leaves: SealedLeaf[] },
  { sealKey, now }: Sealing,
): Promise<string> {
  const last = await findLastSeal(trx, log, chain)
  const sequence = BigInt(last?.sequence ?? 0) + 1n
  const previousHash = last?.hash ?? genesisHash
  const { publicKey } = sealKey
  const hash = hashSeal({ format: 2, log, chain, sequence, previousHash, leaves, sealedAt: now, publicKey })
  await insertSeal(trx, log, {
    chain,
    sequence: sequence.toString(),
    format: 2,
    previous_hash: previousHash,
    record_ids: leaves.map(({ id }) => id),
    record_hashes: leaves.map((leaf) => leaf.hash),
    root: rootOfLeaves(leaves),
    hash,
    public_key: publicKey,
    signature: sealKey.sign(signedText('seal', hash)),
    sealed_at: now,
  })
  return sequence.toString()
}
