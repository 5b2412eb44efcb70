import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Movement } from '../chains/chain.ts'
import type { DepositEvent, DepositTransaction } from '../protocol.ts'

/** A deposit that is deep enough in the chain. */
export type FoundDeposit = {
  /** The result of `eventKey`. */
  key: string
  network: string
  block: { number: bigint; hash: string }
  /** In the smallest unit of the token. */
  amount: bigint
  /** True for change that returned to its owner: it is stored, but not reported. */
  isReturned: boolean
  tx: DepositTransaction
  confirmations: number
}

/** Returns the key of a movement, which stays the same when the movement is mined in another block. */
export const eventKey = ({ network, txHash, movement }: { network: string; txHash: string; movement: Movement }) =>
  [network, txHash, movement.toAddress, movement.contract ?? 'native', movement.index].join('|')

type Known = { key: string; amount: string; tx: DepositTransaction; occurrence: number; is_orphaned: boolean }

/**
 * Stores deposits with the block that has them, and the events that are due for them. A known deposit is not reported
 * twice, unless it was reported as orphaned in between. Returns the number of new events.
 */
export async function storeDeposits(tx: pg.PoolClient, deposits: FoundDeposit[]): Promise<number> {
  if (deposits.length === 0) return 0
  const known = await lockKnown(
    tx,
    deposits.map(({ key }) => key),
  )
  const events: DueEvent[] = []
  const occurrences: number[] = []
  for (const deposit of deposits) {
    const before = known.get(deposit.key)
    const isAnother = before !== undefined && BigInt(before.amount) !== deposit.amount
    // A contract may move another amount when its transaction is mined again. The credited deposit is then lost.
    if (isAnother && !before.is_orphaned) events.push(toOrphaned(before))
    const occurrence = before === undefined ? 0 : before.occurrence + (before.is_orphaned || isAnother ? 1 : 0)
    occurrences.push(occurrence)
    // Reports a deposit that is new or came back. Earlier releases stored only events, whose keys prevent a second report.
    if (occurrence !== before?.occurrence && !deposit.isReturned) events.push(toTopUp(deposit, occurrence))
  }
  await tx.query(
    `insert into wallet.deposits (event_key, network, block_number, block_hash, amount, tx, occurrence)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::numeric[], $6::jsonb[], $7::int[])
     on conflict (event_key) do update set block_number = excluded.block_number, block_hash = excluded.block_hash,
       amount = excluded.amount, tx = excluded.tx, occurrence = excluded.occurrence, orphaned_at = null, is_doubtful = false,
       is_watched = true`,
    [
      deposits.map(({ key }) => key),
      deposits.map(({ network }) => network),
      deposits.map(({ block }) => block.number.toString()),
      deposits.map(({ block }) => block.hash),
      deposits.map(({ amount }) => amount.toString()),
      deposits.map((deposit) => JSON.stringify(deposit.tx)),
      occurrences,
    ],
  )
  return await storeEvents(tx, events)
}

async function lockKnown(tx: pg.PoolClient, keys: string[]): Promise<Map<string, Known>> {
  const { rows } = await tx.query<Known>(
    `select event_key as key, amount, tx, occurrence, orphaned_at is not null as is_orphaned from wallet.deposits
     where event_key = any($1) order by event_key for update`,
    [keys],
  )
  return new Map(rows.map((row) => [row.key, row]))
}

/** An event and its key. There is at most one event under a key. */
type DueEvent = { key: string; event: DepositEvent }

function toTopUp({ key, tx, confirmations }: FoundDeposit, occurrence: number): DueEvent {
  const due = occurrence === 0 ? key : `${key}|${occurrence}`
  return { key: due, event: { kind: 'TOPUP', id: idOf(due), tx: { ...tx, occurrence, confirmations } } }
}

export function toOrphaned({ key, tx, occurrence }: Pick<Known, 'key' | 'tx' | 'occurrence'>): DueEvent {
  const due = `${key}|${occurrence}|orphaned`
  return { key: due, event: { kind: 'DEPOSIT_ORPHANED', id: idOf(due), tx: { ...tx, occurrence } } }
}

/** Derived from the key: a wallet restored from a backup reports a deposit under the same id as before. */
const idOf = (key: string) => `evt_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`

/** Stores each event once for delivery. Returns the number of new events. */
export async function storeEvents(tx: pg.PoolClient, events: DueEvent[]): Promise<number> {
  if (events.length === 0) return 0
  const { rowCount } = await tx.query(
    `insert into wallet.webhook_deliveries (event_key, id, body)
     select * from unnest($1::text[], $2::text[], $3::text[]) on conflict do nothing`,
    [
      events.map(({ key }) => key),
      events.map(({ event }) => event.id),
      events.map(({ event }) => JSON.stringify(event)),
    ],
  )
  return rowCount ?? 0
}
