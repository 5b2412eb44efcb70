import { canonicalJson } from '../../../lib/canonical-json.ts'
import { keyIdOf } from '../../../lib/seal-key.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { hashLeaf, rootOf } from './merkle.ts'

/** What is sealed: the audit record, and the entries of the ledger. Each vault has a chain of seals in both. */
export const sealLogs = ['audit', 'ledger'] as const
export type SealLog = (typeof sealLogs)[number]

/** What comes before the first seal of a chain. */
export const genesisHash = Buffer.alloc(32)

/** A record or an entry as a seal holds it. */
export type SealedLeaf = { id: string; hash: Buffer }

/** Seals have been signed Merkle roots since format 2. A seal of format 1 lists its records and is not signed. */
export type SealContent = {
  chain: string
  sequence: bigint
  previousHash: Buffer
  sealedAt: Date
  leaves: readonly SealedLeaf[]
} & ({ format: 1 } | { format: 2; log: SealLog; publicKey: Buffer })

/** The root of the leaves of a seal, each of which binds an id and a hash. */
export function rootOfLeaves(leaves: readonly SealedLeaf[]): Buffer {
  return rootOf(leaves.map(({ id, hash }) => hashLeaf(canonicalJson({ hash: hash.toString('hex'), id }))))
}

/** The hash of a seal binds the seal before it, every leaf of its own, and who signs it. */
export function hashSeal(content: SealContent): Buffer {
  const { chain, sequence, sealedAt, leaves } = content
  const head = { chain, previousHash: content.previousHash.toString('hex'), sealedAt, sequence: Number(sequence) }
  if (content.format === 1) {
    return sha256(
      canonicalJson({ ...head, records: leaves.map(({ id, hash }) => ({ id, hash: hash.toString('hex') })) }),
    )
  }
  const { log, publicKey } = content
  const root = rootOfLeaves(leaves).toString('hex')
  return sha256(canonicalJson({ ...head, keyId: keyIdOf(publicKey), log, root, size: leaves.length }))
}
