import { type SealKey, signedText } from '../lib/seal-key.ts'
import { genesisHash, hashSeal, rootOfLeaves, type SealLog } from '../modules/record/seals/seal-content.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a query returns is for its caller to know.
type Query = (text: string, values?: unknown[]) => Promise<any[]>

type Resealing = {
  log: SealLog
  chain: string
  /** The first seal to compute again. */
  from?: number
  /** The key of the new signatures. With null, the hashes are computed again, and the signatures stay. */
  sealKey: SealKey | null
}

/**
 * Does what the owner of the database can do: computes the seals of a seal chain again from their content, so that each follows
 * the previous one.
 */
export async function resealChain(query: Query, { log, chain, from = 1, sealKey }: Resealing): Promise<void> {
  const table = `${log}_seals`
  const rows = await query(`select * from ${table} where chain = $1 order by sequence`, [chain])
  let previousHash: Buffer = genesisHash
  for (const row of rows) {
    if (Number(row.sequence) < from) {
      previousHash = row.hash
      continue
    }
    const leaves = row.record_ids.map((id: string, i: number) => ({ id, hash: row.record_hashes[i] }))
    const publicKey = sealKey?.publicKey ?? row.public_key
    const common = { chain, sequence: BigInt(row.sequence), previousHash, sealedAt: row.sealed_at, leaves }
    const hash = hashSeal({ format: 2, log, publicKey, ...common })
    await query(
      `update ${table} set previous_hash = $3, root = $4, hash = $5, public_key = $6, signature = $7
       where chain = $1 and sequence = $2`,
      [
        chain,
        row.sequence,
        previousHash,
        rootOfLeaves(leaves),
        hash,
        publicKey,
        sealKey?.sign(signedText('seal', hash)) ?? row.signature,
      ],
    )
    previousHash = hash
  }
}
