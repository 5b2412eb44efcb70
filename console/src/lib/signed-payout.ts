import type { TransferPayload } from '@strongroom/sdk'
import { canonicalJson, sha256 } from './hashes.ts'

type Part = { hash: string; amount: string }
const hashOf = (document: object) => sha256(canonicalJson(document))
const tokenOf = ({ network, contractAddress }: Pick<TransferPayload, 'network' | 'contractAddress'>) =>
  `${network} ${contractAddress}`

async function leafOf(order: TransferPayload, position: number): Promise<Part> {
  const { amount } = order
  return {
    hash: await hashOf({ format: 'strongroom-payout-leaf-1', position, order: await hashOf(order), amount }),
    amount,
  }
}

async function nodeOf(left: Part, right: Part): Promise<Part> {
  const hash = await hashOf({ format: 'strongroom-payout-node-1', left, right })
  return { hash, amount: String(BigInt(left.amount) + BigInt(right.amount)) }
}

/** The document that is signed for all rows of a payout (docs/signed-orders.md). */
export async function payoutOf(payoutId: string, orders: TransferPayload[]) {
  const { vaultId, initiatorId, rulesVersion, expiresAt } = orders[0]!
  const sums = [...new Set(orders.map(tokenOf))].map(async (token) => {
    const rows = orders.filter((order) => tokenOf(order) === token)
    let parts = await Promise.all(rows.map(leafOf))
    while (parts.length > 1) parts = await joinPairs(parts)
    const { network, contractAddress } = rows[0]!
    const { hash: root, amount } = parts[0]!
    return { network, contractAddress, amount, rowsCount: rows.length, root }
  })
  const head = { payoutId, vaultId, initiatorId, rulesVersion, expiresAt }
  return { format: 'strongroom-payout-1', ...head, sums: await Promise.all(sums) }
}

type SignedPayout = Awaited<ReturnType<typeof payoutOf>>
/** Where in a signed payout a row is, and what leads from there to the root. */
export type Place = { payout: SignedPayout; position: number; path: Part[] }

/** Whether the order is the row at its place in what was signed, as the wallet service asks. Whatever cannot be read is none. */
export async function isAtPlace(order: TransferPayload, { payout, position, path }: Place): Promise<boolean> {
  try {
    const { vaultId, initiatorId, rulesVersion, expiresAt } = order
    if (canonicalJson({ ...payout, vaultId, initiatorId, rulesVersion, expiresAt }) !== canonicalJson(payout))
      return false
    const sum = payout.sums.find((one) => tokenOf(one) === tokenOf(order))!
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

/** The next level of a tree: what has no neighbour at the end stays as it is. */
function joinPairs(parts: Part[]): Promise<Part[]> {
  const lefts = parts.filter((_, i) => i % 2 === 0)
  return Promise.all(
    lefts.map((left, i) => {
      const right = parts[2 * i + 1]
      return right === undefined ? left : nodeOf(left, right)
    }),
  )
}
