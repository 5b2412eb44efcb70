import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './secrets.ts'

/** The format of the document that people sign for a payout in a protected vault (docs/signed-orders.md). */

const payoutFormat = 'strongroom-payout-1'

type PayoutHead = {
  payoutId: string
  vaultId: string
  initiatorId: string
  rulesVersion: number
  expiresAt: string
}

/** A row of a payout: the hash of its order in hex, and the fields that decide its position. */
export type PaidRow = { order: string; network: string; contractAddress: string | null; amount: string }

type Token = Pick<PaidRow, 'network' | 'contractAddress'>
export type SignedPayout = PayoutHead & {
  format: typeof payoutFormat
  sums: (Token & { amount: string; rowsCount: number; root: string })[]
}

/** A part of the tree over the rows that pay in one token: its hash, and the sum of its rows. */
type Part = { hash: string; amount: string }

/** The position of a row in a payout, and the path from it to the root. */
export type Place = { payout: SignedPayout; position: number; path: Part[] }

/** A payout in its signed form, with the trees over its rows. */
export type PlannedPayout = { document: SignedPayout; hash: Buffer; placeOf(index: number): Place }

export function planPayout(head: PayoutHead, rows: readonly PaidRow[]): PlannedPayout {
  const trees = new Map<string, { token: Token; rowsCount: number; levels: Part[][] }>()
  const places = rows.map((row) => {
    const { network, contractAddress } = row
    const key = `${network} ${contractAddress}`
    const tree = trees.get(key) ?? { token: { network, contractAddress }, rowsCount: 0, levels: [[]] }
    trees.set(key, tree)
    tree.levels[0]!.push(leafOf(tree.rowsCount, row))
    return { tree, position: tree.rowsCount++ }
  })
  for (const { levels } of trees.values()) {
    for (let level = levels[0]!; level.length > 1; level = levels.at(-1)!) {
      const lefts = level.filter((_, i) => i % 2 === 0)
      levels.push(lefts.map((left, i) => joined(left, level[2 * i + 1])))
    }
  }
  const sums = [...trees.values()].map(({ token, rowsCount, levels }) => {
    const { hash: root, amount } = levels.at(-1)![0]!
    return { ...token, amount, rowsCount, root }
  })
  const { payoutId, vaultId, initiatorId, rulesVersion, expiresAt } = head
  const document = { format: payoutFormat, payoutId, vaultId, initiatorId, rulesVersion, expiresAt, sums } as const
  return {
    document,
    hash: hashOf(document),
    placeOf(index) {
      const { tree, position } = places[index]!
      const path = tree.levels.slice(0, -1).flatMap((level, height) => level[(position >> height) ^ 1] ?? [])
      return { payout: document, position, path }
    },
  }
}

/** The fields of an order that its payout repeats. */
export type SignedOrder = Omit<PaidRow, 'order'> & Omit<PayoutHead, 'payoutId'>

/**
 * Returns true if the order is the row of the payout at its place, as the wallet service checks it. Returns false for input
 * that cannot be read.
 */
export function isAtPlace(order: SignedOrder, { payout, position, path }: Place): boolean {
  try {
    const { vaultId, initiatorId, rulesVersion, expiresAt } = order
    const terms = { vaultId, initiatorId, rulesVersion, expiresAt }
    if (hashOf({ ...payout, ...terms }).compare(hashOf(payout)) !== 0) return false
    const sum = payout.sums.find(
      ({ network, contractAddress }) => network === order.network && contractAddress === order.contractAddress,
    )
    const rest = [...path]
    let part = leafOf(position, { ...order, order: hashOf(order).toString('hex') })
    for (let at = position, width = sum?.rowsCount ?? 0; width > 1; at >>= 1, width = (width + 1) >> 1) {
      if (at % 2 === 0 && at === width - 1) continue
      const other = rest.shift()!
      part = at % 2 === 0 ? joined(part, other) : joined(other, part)
    }
    return (
      rest.length === 0 && position < (sum?.rowsCount ?? 0) && part.hash === sum?.root && part.amount === sum.amount
    )
  } catch {
    return false
  }
}

const hashOf = (document: object): Buffer => sha256(canonicalJson(document))

const leafOf = (position: number, { order, amount }: PaidRow): Part => ({
  hash: hashOf({ format: 'strongroom-payout-leaf-1', position, order, amount }).toString('hex'),
  amount,
})

/** Joins two parts of a level. A last part without a neighbour moves up unchanged. */
function joined(left: Part, right: Part | undefined): Part {
  if (right === undefined) return left
  const amount = (BigInt(left.amount) + BigInt(right.amount)).toString()
  return { hash: hashOf({ format: 'strongroom-payout-node-1', left, right }).toString('hex'), amount }
}
