import { keyIdOf } from '../../../lib/seal-key.ts'
import type { SealRow } from './queries.ts'

const hex = (bytes: Buffer | null): string | null => bytes?.toString('hex') ?? null

/** Returns a seal as the API shows it, with everything that its hash covers except its seal chain. */
export function toSeal(row: Omit<SealRow, 'chain'>) {
  return {
    sequence: Number(row.sequence),
    previousHash: row.previous_hash.toString('hex'),
    records: row.record_ids.map((id, i) => ({ id, hash: row.record_hashes[i]!.toString('hex') })),
    sealedAt: row.sealed_at.toISOString(),
    root: hex(row.root),
    keyId: row.public_key === null ? null : keyIdOf(row.public_key),
    publicKey: hex(row.public_key),
    hash: row.hash.toString('hex'),
    signature: hex(row.signature),
  }
}
