import type { Breakable, Trigger } from '../breakpoints.ts'
import { points as servicePoints } from '../points.ts'
import type { Passage, Stop } from './relay.ts'

/** A connection between two processes, by the called side: the wallet, the node of the chain, the webhook of the service. */
export type Edge = 'wallet' | 'chain' | 'webhook'
type At = { database: 'service' | 'wallet'; trigger: Trigger } | { edge: Edge; stop: Stop }

type Part = 'order' | 'signing' | 'broadcast' | 'changes' | 'block' | 'deposit' | 'hand-over' | 'settlement'

/** A named moment with transfers in flight; `needsBlock`: it comes when a block is mined. */
export type Point = Breakable<Part, At> & { needsBlock: boolean }

const isSigned = 'old.nonce is null and new.nonce is not null'
const isBroadcast = "old.status = 'queued' and new.status = 'broadcast'"
const isMined = 'old.block_number is null and new.block_number is not null'
const isConfirmed = "old.status = 'broadcast' and new.status = 'confirmed'"

const whileOrdered: Point[] = [
  inWallet('order', 'before its row', 'wallet.transfers', 'before insert'),
  inWallet('order', 'the commit', 'wallet.transfers', 'commit of insert'),
  between('order', 'it is on its way', 'wallet', { side: 'request', path: /^\/transfers$/ }),
  between('order', 'it is taken', 'wallet', { side: 'answer', path: /^\/transfers$/ }),
  inWallet('signing', 'before nonces are taken', 'wallet.nonces', 'before update'),
  inWallet('signing', 'before it is stored', 'wallet.transfers', 'before update', isSigned),
  inWallet('signing', 'after its transaction is stored', 'wallet.transactions', 'after insert'),
  inWallet('signing', 'the commit', 'wallet.transfers', 'commit of update', isSigned),
  between('broadcast', 'transactions are on their way', 'chain', { side: 'request', body: 'eth_sendRawTransaction' }),
  between('broadcast', 'the chain’s node has them', 'chain', { side: 'answer', body: 'eth_sendRawTransaction' }),
  inWallet('broadcast', 'before it is noted', 'wallet.transfers', 'before update', isBroadcast),
  inWallet('broadcast', 'the commit', 'wallet.transfers', 'commit of update', isBroadcast),
  inWallet('changes', 'before a change is numbered', 'wallet.changes', 'before insert'),
  inWallet('changes', 'after a change is numbered', 'wallet.changes', 'after update'),
  between('changes', 'they are told', 'wallet', { side: 'answer', path: /^\/transfers\/changes/, answer: '"status"' }),
].map((point) => ({ ...point, needsBlock: false }))

const whileMined: Point[] = [
  between('block', 'it is read', 'chain', { side: 'answer', body: 'eth_getBlockReceipts' }),
  inWallet('block', 'before a transfer is in it', 'wallet.transfers', 'before update', isMined),
  inWallet('block', 'before it was looked through', 'wallet.follows', 'before update'),
  inWallet('block', 'before a transfer is final', 'wallet.transfers', 'before update', isConfirmed),
  inWallet('block', 'the commit', 'wallet.transfers', 'commit of update', isConfirmed),
  inWallet('deposit', 'before it is noted', 'wallet.webhook_deliveries', 'before insert'),
  inWallet('deposit', 'the commit', 'wallet.webhook_deliveries', 'commit of insert'),
  between('deposit', 'it is told', 'webhook', { side: 'request', path: /./ }),
  between('deposit', 'it is answered', 'webhook', { side: 'answer', path: /./ }),
].map((point) => ({ ...point, needsBlock: true }))

/** The steps of the service between the order and the end; those that are not triggers are edges here. */
const inService: Point[] = servicePoints.flatMap(({ part, name, at }) =>
  (part === 'hand-over' || part === 'settlement') && typeof at !== 'string' && name !== 'after it failed'
    ? [{ part, name, at: { database: 'service' as const, trigger: at }, needsBlock: part === 'settlement' }]
    : [],
)

export const points: Point[] = [...whileOrdered, ...whileMined, ...inService]

function inWallet(
  part: Part,
  name: string,
  table: string,
  moment: Trigger['moment'],
  when?: string,
): Omit<Point, 'needsBlock'> {
  const trigger = when === undefined ? { table, moment } : { table, moment, when }
  return { part, name, at: { database: 'wallet', trigger } }
}

type Sought = { side: Passage['side']; path?: RegExp; body?: string; answer?: string }

function between(
  part: Part,
  name: string,
  edge: Edge,
  { side, path, body, answer }: Sought,
): Omit<Point, 'needsBlock'> {
  const isAt = (passage: Passage) =>
    passage.side === side &&
    (path === undefined || path.test(passage.path)) &&
    (body === undefined || passage.body.includes(body)) &&
    (answer === undefined || passage.answer.includes(answer))
  return { part, name, at: { edge, stop: { name, isAt } } }
}
