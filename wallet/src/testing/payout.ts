import { hashOf } from '../authority/canonical.ts'
import type { Authorization, Order, Payout, Placed } from '../authority/documents.ts'
import { leafOf, nodeOf, type Part } from '../authority/payout.ts'
import { aboutOf, type Signers, signVote } from './signing.ts'

/** Returns the document that people sign for a payout of these orders. `changes` falsifies fields of it. */
export function payoutOf(orders: Order[], changes: Partial<Payout> = {}): Payout {
  const { vaultId, initiatorId, rulesVersion, expiresAt } = orders[0]!
  const sums = groupsOf(orders).map((group) => {
    const { network, contractAddress } = group[0]!
    const { hash, amount } = levelsOf(group).at(-1)![0]!
    return { network, contractAddress, amount: amount.toString(), rowsCount: group.length, root: hash }
  })
  const head = { payoutId: 'payout-1', vaultId, initiatorId, rulesVersion, expiresAt }
  return { format: 'strongroom-payout-1', ...head, sums, ...changes }
}

/** Returns the place of an order in the tree over these orders. */
export function placeOf(orders: Order[], order: Order, payout = payoutOf(orders)): Placed {
  const group = groupsOf(orders).find((group) => group.includes(order))!
  const levels = levelsOf(group)
  const path: Placed['path'] = []
  let place = group.indexOf(order)
  for (const level of levels.slice(0, -1)) {
    const neighbour = level[place ^ 1]
    if (neighbour !== undefined) path.push({ hash: neighbour.hash, amount: neighbour.amount.toString() })
    place >>= 1
  }
  return { payout, position: group.indexOf(order), path }
}

/** Signs the payout once, and returns the authorization of every order. */
export function authorizeAll(
  orders: Order[],
  { by, approvers = [], ...signers }: Signers,
  payout = payoutOf(orders),
): (Authorization & { batch: Placed })[] {
  const { authorityVersion, about } = aboutOf(orders[0]!, signers)
  const signed = { ...about, subject: 'payout', hash: hashOf(payout) } as const
  const votes = [
    signVote(by, { ...signed, decision: 'initiate' }),
    ...approvers.map((key) => signVote(key, { ...signed, decision: 'approve' })),
  ]
  return orders.map((order) => ({ order, authorityVersion, votes, batch: placeOf(orders, order, payout) }))
}

function groupsOf(orders: Order[]): Order[][] {
  const groups = new Map<string, Order[]>()
  for (const order of orders) {
    const key = `${order.network} ${order.contractAddress}`
    groups.set(key, [...(groups.get(key) ?? []), order])
  }
  return [...groups.values()]
}

/** Returns the levels of the tree, from the leaves to the root. */
function levelsOf(orders: Order[]): Part[][] {
  const levels = [orders.map((order, position) => leafOf(position, order))]
  for (let level = levels[0]!; level.length > 1; level = levels.at(-1)!) {
    const pairs = level.flatMap((left, i) => (i % 2 === 0 ? [[left, level[i + 1]] as const] : []))
    levels.push(pairs.map(([left, right]) => (right === undefined ? left : nodeOf(left, right))))
  }
  return levels
}
