import { canonicalJson, hashOf } from './canonical.ts'
import type { Order } from './documents.ts'

/**
 * Orders that are signed together: the sums of each token, and the root of the tree over the orders
 * (docs/signed-orders.md).
 */
export interface Payout {
  format: 'strongroom-payout-1'
  payoutId: string
  vaultId: string
  initiatorId: string
  rulesVersion: number
  expiresAt: string
  sums: { network: string; contractAddress: string | null; amount: string; rowsCount: number; root: string }[]
}

/** The place of an order in a payout, and the path from there to the root. */
export interface Place {
  payout: Payout
  position: number
  path: Part[]
}

/** The fields of an order that determine its place. */
export type PaidOrder = Pick<Order, 'network' | 'contractAddress' | 'amount' | 'vaultId' | 'initiatorId'> &
  Partial<Pick<Order, 'rulesVersion' | 'expiresAt'>>

interface Part {
  hash: string
  amount: string
}

const tokenOf = ({ network, contractAddress }: Pick<PaidOrder, 'network' | 'contractAddress'>): string =>
  `${network} ${contractAddress}`

/** Returns the document that is signed for all orders of a payout. There is at least one order. */
export async function payoutOf(payoutId: string, orders: readonly Order[]): Promise<Payout> {
  const { vaultId, initiatorId, rulesVersion, expiresAt } = orders[0]!
  const tokens = [...new Set(orders.map(tokenOf))]
  const sums = await Promise.all(tokens.map((token) => sumOf(orders.filter((order) => tokenOf(order) === token))))
  return { format: 'strongroom-payout-1', payoutId, vaultId, initiatorId, rulesVersion, expiresAt, sums }
}

async function sumOf(rows: readonly Order[]): Promise<Payout['sums'][number]> {
  let parts = await Promise.all(rows.map(leafOf))
  while (parts.length > 1) parts = await joinPairs(parts)
  const { network, contractAddress } = rows[0]!
  const { hash: root, amount } = parts[0]!
  return { network, contractAddress, amount, rowsCount: rows.length, root }
}

/**
 * Returns true if the order is the row at its place in the signed payout, as the wallet service checks it. Returns
 * false if it cannot be read.
 */
export async function isAtPlace(order: PaidOrder, { payout, position, path }: Place): Promise<boolean> {
  try {
    const { vaultId, initiatorId, rulesVersion, expiresAt } = order
    if (canonicalJson({ ...payout, vaultId, initiatorId, rulesVersion, expiresAt }) !== canonicalJson(payout))
      return false
    const sum = payout.sums.find((candidate) => tokenOf(candidate) === tokenOf(order))!
    const rest = [...path]
    let part = await leafOf(order, position)
    for (let at = position, width = sum.rowsCount; width > 1; at >>= 1, width = (width + 1) >> 1) {
      if (at % 2 === 0 && at === width - 1) continue
      const other = rest.shift()!
      part = await (at % 2 === 0 ? nodeOf(part, other) : nodeOf(other, part))
    }
    return rest.length === 0 && position < sum.rowsCount && part.hash === sum.root && part.amount === sum.amount
  } catch {
    return false
  }
}

async function leafOf(order: PaidOrder, position: number): Promise<Part> {
  const { amount } = order
  const leaf = { format: 'strongroom-payout-leaf-1', position, order: await hashOf(order), amount }
  return { hash: await hashOf(leaf), amount }
}

async function nodeOf(left: Part, right: Part): Promise<Part> {
  const hash = await hashOf({ format: 'strongroom-payout-node-1', left, right })
  return { hash, amount: String(BigInt(left.amount) + BigInt(right.amount)) }
}

/** Returns the next level of a tree. A part without a neighbour at the end stays unchanged. */
function joinPairs(parts: Part[]): Promise<Part[]> {
  const lefts = parts.filter((_, i) => i % 2 === 0)
  return Promise.all(
    lefts.map((left, i) => {
      const right = parts[2 * i + 1]
      return right === undefined ? left : nodeOf(left, right)
    }),
  )
}
