import { hashOf } from './canonical.ts'
import type { Order, Placed } from './documents.ts'
import { type Refusal, refusal } from './refusal.ts'

/** A part of the tree over the rows of a payout in one token: its hash, and the sum of its rows. */
export type Part = { hash: string; amount: bigint }

/** Returns the leaf of a row at its place. Its amount is that of the order, so that a false sum proves no row. */
export const leafOf = (position: number, order: Order): Part => ({
  hash: hashOf({ format: 'strongroom-payout-leaf-1', position, order: hashOf(order), amount: order.amount }),
  amount: BigInt(order.amount),
})

export const nodeOf = (left: Part, right: Part): Part => ({
  hash: hashOf({ format: 'strongroom-payout-node-1', left: toText(left), right: toText(right) }),
  amount: left.amount + right.amount,
})

const toText = ({ hash, amount }: Part) => ({ hash, amount: amount.toString() })

/**
 * Returns the root of the tree for a leaf at this position; null when the length of the path does not match the position. A part
 * without a neighbour at the end of a level moves to the next level unchanged.
 */
export function rootOf(leaf: Part, { position, count, path }: { position: number; count: number; path: Part[] }) {
  const rest = [...path]
  let part = leaf
  for (let place = position, width = count; width > 1; place = place >> 1, width = (width + 1) >> 1) {
    if (place % 2 === 0 && place === width - 1) continue
    const neighbour = rest.shift()
    if (neighbour === undefined) return null
    part = place % 2 === 0 ? nodeOf(part, neighbour) : nodeOf(neighbour, part)
  }
  return rest.length === 0 ? part : null
}

/**
 * Refuses an order that is not the row of the signed payout that it claims to be. Returns null for a right row. Each part of the
 * tree binds the sums of its parts, so the payout pays exactly its sums.
 */
export function refusalOfPlace(order: Order, { payout, position, path }: Placed): Refusal | null {
  for (const field of ['vaultId', 'initiatorId', 'rulesVersion', 'expiresAt'] as const) {
    if (payout[field] !== order[field]) return refusal('NOT_IN_PAYOUT', `the payout has another ${field}`)
  }
  const sum = sumOf(order, { payout })
  if (sum === undefined) return refusal('NOT_IN_PAYOUT', 'the payout pays nothing in this token')
  if (position >= sum.rowsCount) return refusal('NOT_IN_PAYOUT', `the payout has ${sum.rowsCount} rows in this token`)
  const parts = path.map(({ hash, amount }) => ({ hash, amount: BigInt(amount) }))
  const root = rootOf(leafOf(position, order), { position, count: sum.rowsCount, path: parts })
  if (root?.hash === sum.root && root.amount === BigInt(sum.amount)) return null
  return refusal('NOT_IN_PAYOUT', `the order is not row ${position} of the payout, or its sum is another`)
}

/** Finds the sum that the payout pays of the token of the order. */
export const sumOf = ({ network, contractAddress }: Order, { payout }: Pick<Placed, 'payout'>) =>
  payout.sums.find((sum) => sum.network === network && sum.contractAddress === contractAddress)
