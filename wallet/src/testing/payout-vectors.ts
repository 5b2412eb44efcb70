import type { Authorization, Order, Payout, Placed } from '../authority/documents.ts'
import type { RefusalCode } from '../authority/refusal.ts'
import { authorizeAll, payoutOf } from './payout.ts'
import { listed, order, signVote, team, token, unlisted } from './signing.ts'

/** A requested order, its authorization, and the verdict on it. */
export type Vector = {
  name: string
  /** Index into `authorities`. */
  authority: number
  now: string
  orderedLastDay: string
  request: Record<string, unknown>
  authorization: unknown
  verdict: 'ok' | RefusalCode
}

const { anna, ben, carla, dora } = team
const everybody = { by: anna, approvers: [ben, carla, dora] }

type Row = Authorization & { batch: Placed }

/** Makes the rows of one payout: every third row pays in the token, and listed and unlisted recipients take turns. */
function ordersOf(name: string, amounts: number[], changes: Partial<Order> = {}): Order[] {
  return amounts.map((amount, index) => ({
    ...order,
    transferId: `${name}-${index}`,
    amount: String(amount),
    toAddress: index % 2 === 0 ? unlisted : listed,
    contractAddress: index % 3 === 2 ? token : null,
    ...changes,
  }))
}

const vectorOf = (name: string, authorization: Row, verdict: Vector['verdict']): Vector => {
  const {
    transferId: id,
    vaultId,
    initiatorId,
    fromAddressId,
    tokenId,
    rulesVersion,
    expiresAt,
    ...request
  } = authorization.order
  const base = { name, authority: 0, now: '2026-01-31T09:00:00.000Z', orderedLastDay: '0' }
  return { ...base, request: { id, ...request }, authorization, verdict }
}

/** Payouts of 1 to 12 rows: the first and the last row of each, so that every shape of a path occurs. */
function rightRows(): Vector[] {
  return [1, 2, 3, 4, 5, 6, 7, 9, 12, 25].flatMap((count) => {
    const orders = ordersOf(`row-of-${count}`, new Array(count).fill(9000 / (2 * count + 2)).map(Math.floor))
    const rows = authorizeAll(orders, everybody)
    return [rows[0]!, rows.at(-1)!].map((row, i) => vectorOf(`payout-of-${count}-${i}`, row, 'ok'))
  })
}

const orders = ordersOf('faulty-row', [1500, 1500, 10, 1500, 1500])
const rows = authorizeAll(orders, everybody)
const other = ordersOf('other-row', [1500, 1500, 10, 1500, 1500])
const others = authorizeAll(other, everybody, payoutOf(other, { payoutId: 'payout-2' }))
const small = ordersOf('small-row', [900, 900, 900, 900, 900, 900, 900, 900], { contractAddress: null })
const row = rows[3]!

const placed = (changes: Partial<Placed>): Row => ({ ...row, batch: { ...row.batch, ...changes } })
/** Returns a row whose signatures and tree cover other sums. */
const withSums = (change: (sums: Payout['sums']) => Payout['sums']): Row =>
  authorizeAll(orders, everybody, payoutOf(orders, { sums: change(payoutOf(orders).sums) }))[3]!
const bent = (path: Placed['path'], change: (part: Placed['path'][number]) => Partial<Placed['path'][number]>) =>
  path.map((part, i) => (i === 0 ? { ...part, ...change(part) } : part))
const altered = (changes: Partial<Order>): Row => ({ ...row, order: { ...row.order, ...changes } })

const faults: [what: string, verdict: RefusalCode, authorization: Row][] = [
  ['a row that is not in the payout', 'NOT_IN_PAYOUT', { ...row, order: other[3]! }],
  [
    'a row that was altered',
    'NOT_IN_PAYOUT',
    altered({ toAddress: listed === row.order.toAddress ? unlisted : listed }),
  ],
  ['an amount that was altered', 'NOT_IN_PAYOUT', altered({ amount: '1501' })],
  ['the place of another payout', 'NOT_IN_PAYOUT', { ...row, batch: others[3]!.batch }],
  ['the votes of another payout', 'ORDER_DIFFERS', { ...row, votes: others[3]!.votes }],
  ['the path of another row', 'NOT_IN_PAYOUT', placed({ path: rows[0]!.batch.path })],
  ['another position', 'NOT_IN_PAYOUT', placed({ position: 1 })],
  ['a position beyond the end', 'NOT_IN_PAYOUT', placed({ position: 4 })],
  ['a path that is too long', 'NOT_IN_PAYOUT', placed({ path: [...row.batch.path, row.batch.path[0]!] })],
  ['a path that is too short', 'NOT_IN_PAYOUT', placed({ path: row.batch.path.slice(1) })],
  ['a part that pays less', 'NOT_IN_PAYOUT', placed({ path: bent(row.batch.path, () => ({ amount: '1' })) })],
  ['a sum that is too low', 'NOT_IN_PAYOUT', withSums((sums) => sums.map((sum) => ({ ...sum, amount: '1000' })))],
  ['one token in two sums', 'AUTHORIZATION_MALFORMED', withSums((sums) => [...sums, { ...sums[0]!, amount: '1' }])],
  ['no sum of the token', 'NOT_IN_PAYOUT', withSums((sums) => sums.slice(1))],
  [
    'another expiry than the payout',
    'NOT_IN_PAYOUT',
    placed({ payout: { ...row.batch.payout, expiresAt: '2027-01-31T09:30:00.000Z' } }),
  ],
  [
    'votes for the row alone',
    'ORDER_DIFFERS',
    {
      ...row,
      votes: row.votes.map(({ vote }, i) => signVote([anna, ben, carla, dora][i]!, { ...vote, subject: 'transfer' })),
    },
  ],
  ['small rows whose sum needs more votes', 'VOTES_MISSING', authorizeAll(small, { by: anna, approvers: [ben] })[1]!],
  ['one vote too few', 'VOTES_MISSING', authorizeAll(orders, { by: anna, approvers: [ben, dora] })[3]!],
  ['more than a day allows', 'PER_DAY_EXCEEDED', tooMuch()],
  ['a field too many', 'AUTHORIZATION_MALFORMED', placed({ ...({ note: 'x' } as object) })],
]

function tooMuch(): Row {
  const large = ordersOf('large-row', [5001, 5001], { contractAddress: null })
  return authorizeAll(large, everybody)[0]!
}

/** Returns 20 valid rows, and 20 rows that must be refused. */
export function payoutVectors(): Vector[] {
  const faulty = faults.map(([what, verdict, authorization], i) =>
    vectorOf(`faulty-payout-${i}: ${what}`.replaceAll(/[^\w.:-]/g, '-'), authorization, verdict),
  )
  return [...rightRows(), ...faulty]
}
