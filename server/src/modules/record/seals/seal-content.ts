import { canonicalJson } from '../../../lib/canonical-json.ts'
import { keyIdOf } from '../../../lib/seal-key.ts'
import { sha256 } from '../../../lib/secrets.ts'

/** The sealed logs: the audit log and the entries of the ledger. Each vault has a seal chain in both. */
export const sealLogs = ['audit', 'ledger'] as const
export type SealLog = (typeof sealLogs)[number]

/** The previous hash of the first seal of a seal chain. */
export const genesisHash = Buffer.alloc(32)

/** A record or an entry as a seal holds it. */
export type SealedLeaf = { id: string; hash: Buffer }

/** Seals have been signed Merkle roots since format 2. A seal of format 1 lists its records and is not signed. */
type SealContent = {
  chain: string
  sequence: bigint
  previousHash: Buffer
  sealedAt: Date
  leaves: readonly SealedLeaf[]
} & ({ format: 1 } | { format: 2; log: SealLog; publicKey: Buffer })

/** Leaves and nodes are hashed under different first bytes, so that a node is never taken for a leaf (RFC 6962, 2.1). */
const leafPrefix = Buffer.from([0])
const nodePrefix = Buffer.from([1])

export function hashLeaf(data: string | Uint8Array): Buffer {
  return sha256(Buffer.concat([leafPrefix, Buffer.from(data)]))
}

/** Returns the root of the tree of these hashed leaves, as RFC 6962 builds it: each left half is a power of two. */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  let row = leaves
  if (row.length === 0) return sha256('')
  // This pairs neighbours from the left and lifts a last node without a partner, which makes the same tree.
  while (row.length > 1) {
    const below = row
    row = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) => {
      const [left, right] = [below[2 * i]!, below[2 * i + 1]]
      return right === undefined ? left : sha256(Buffer.concat([nodePrefix, left, right]))
    })
  }
  return row[0]!
}

/** Returns the hashes beside the path from a leaf to the root, lowest first. A level without a neighbour adds no hash. */
export function pathOf(leaves: readonly SealedLeaf[], index: number): Buffer[] {
  const path: Buffer[] = []
  let row = leaves.map(hashSealedLeaf)
  for (let at = index; row.length > 1; at >>= 1) {
    const neighbour = row[at ^ 1]
    if (neighbour !== undefined) path.push(neighbour)
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, i) => rootOf(row.slice(2 * i, 2 * i + 2)))
  }
  return path
}

const hashSealedLeaf = ({ id, hash }: SealedLeaf): Buffer => hashLeaf(canonicalJson({ hash: hash.toString('hex'), id }))

/** Returns the root of the leaves of a seal. Each leaf binds an id and a hash. */
export function rootOfLeaves(leaves: readonly SealedLeaf[]): Buffer {
  return rootOf(leaves.map(hashSealedLeaf))
}

/** Returns the hash of a seal. It binds the previous seal, every leaf of the seal, and the key that signs it. */
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
