import { keyIdOf } from '../../../lib/seal-key.ts'
import type { SealHeadRow, SealRow } from './queries.ts'

const hex = (bytes: Buffer | null): string | null => bytes?.toString('hex') ?? null

/** Returns a seal as the API shows it, with everything that its hash covers except its seal chain. */
export function toSeal(row: Omit<SealRow, 'chain'>) {
  const { sequence, previousHash, ...rest } = toHead(row)
  return { sequence, previousHash, records: toLeaves(row.record_ids, row.record_hashes), ...rest }
}

/** Returns a seal with the number of its leaves; a seal of format 1 with the leaves. */
export function toSealHead({ record_ids: ids, record_hashes: hashes, size, ...row }: SealHeadRow) {
  return { ...toHead(row), ...(ids === null || hashes === null ? { size } : { records: toLeaves(ids, hashes) }) }
}

const toLeaves = (ids: string[], hashes: Buffer[]) => ids.map((id, i) => ({ id, hash: hashes[i]!.toString('hex') }))

const toHead = (row: Omit<SealRow, 'chain' | 'record_ids' | 'record_hashes'>) => ({
  sequence: Number(row.sequence),
  previousHash: row.previous_hash.toString('hex'),
  sealedAt: row.sealed_at.toISOString(),
  root: hex(row.root),
  keyId: row.public_key === null ? null : keyIdOf(row.public_key),
  publicKey: hex(row.public_key),
  hash: row.hash.toString('hex'),
  signature: hex(row.signature),
})
