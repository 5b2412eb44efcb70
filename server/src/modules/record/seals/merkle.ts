import { sha256 } from '../../../lib/secrets.ts'

/** Leaves and nodes are hashed under different first bytes, so that a node is never taken for a leaf (RFC 6962, 2.1). */
const leafPrefix = Buffer.from([0])
const nodePrefix = Buffer.from([1])

export function hashLeaf(data: string | Uint8Array): Buffer {
  return sha256(Buffer.concat([leafPrefix, Buffer.from(data)]))
}

/** The root of the tree of these hashed leaves, as RFC 6962 builds it: each left half is a power of two. */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  let row = leaves
  if (row.length === 0) return sha256('')
  // Pairing neighbours from the left, and lifting a last one without a partner, makes the same tree.
  while (row.length > 1) {
    const below = row
    row = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) => {
      const [left, right] = [below[2 * i]!, below[2 * i + 1]]
      return right === undefined ? left : sha256(Buffer.concat([nodePrefix, left, right]))
    })
  }
  return row[0]!
}
