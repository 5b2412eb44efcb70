import { type Insertable, sql } from 'kysely'
import { prepared, type Trx } from '../../db/client.ts'
import { insertRows } from '../../db/insert-rows.ts'
import type { WalletEvents } from '../../db/types.ts'
import { type AppError, badRequest } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { parseDecimal } from '../../lib/money.ts'
import { lockOnchainAddress } from '../addresses/queries.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { depositPosting } from '../ledger/postings.ts'
import { type NewOperation, toOperationRow } from '../operations/write.ts'
import { type DepositEvent, parseWalletEvent } from './parse-event.ts'
import { type DepositKey, type EventTarget, findDepositsByKey, findEventTargets } from './queries.ts'

export type EventOutcome = 'credited' | 'duplicate' | 'ignored' | 'unmatched' | 'quarantined'

/** An authentic event; null: of a kind that is not ours. `rawBody` is what arrived. */
export type Arrival = { event: DepositEvent | null; rawBody: string }

/** What an arrival is answered; a fault is answered with its 400 and leaves nothing behind. */
export type ArrivalAnswer = { outcome: EventOutcome; depositId: string | null } | { fault: AppError }

type Credit = {
  outcome: EventOutcome
  vaultId: string | null
  depositId: string | null
  addressKey: string | null
  /** The amount that contradicts the deposit, in raw units. */
  quarantined: { amount: string } | null
}

const ignored: Credit = { outcome: 'ignored', vaultId: null, depositId: null, addressKey: null, quarantined: null }

/**
 * Stores authentic events as they arrived and does what they say, all in `trx`: a credit and its record cannot part. A
 * wrong one changes nothing for the others.
 */
export async function receiveWalletEvents(trx: Trx, arrivals: Arrival[], now: Date): Promise<ArrivalAnswer[]> {
  const found = await creditDeposits(
    trx,
    arrivals.flatMap(({ event }) => (event === null ? [] : [event])),
    now,
  )
  const credits = arrivals.map(({ event }) => (event === null ? ignored : found.shift()!))
  const records: Insertable<WalletEvents>[] = []
  for (const [i, credit] of credits.entries()) {
    if ('fault' in credit) continue
    const { event, rawBody } = arrivals[i]!
    records.push({
      id: newId(now),
      received_at: now,
      body: rawBody,
      network: event?.network ?? null,
      address_key: credit.addressKey,
      outcome: credit.outcome,
      vault_id: credit.vaultId,
      deposit_id: credit.depositId,
      quarantined: credit.quarantined,
    })
  }
  await insertRows(trx, { wallet_events: records })
  return credits.map((credit) =>
    'fault' in credit ? credit : { outcome: credit.outcome, depositId: credit.depositId },
  )
}

/** Credits the events that arrived before their address existed; runs in the transaction that creates the address. */
export async function creditUnmatchedEvents(
  trx: Trx,
  address: { networkId: string; addressKey: string },
  now: Date,
): Promise<void> {
  const stored = await trx
    .selectFrom('wallet_events')
    .innerJoin('networks', 'networks.slug', 'wallet_events.network')
    .select(['wallet_events.id', 'wallet_events.body'])
    .where('networks.id', '=', address.networkId)
    .where('wallet_events.address_key', '=', address.addressKey)
    .where('wallet_events.outcome', '=', 'unmatched')
    .orderBy('wallet_events.id')
    .execute()
  const events = stored.flatMap(({ id, body }) => {
    const event = parseWalletEvent(JSON.parse(body))
    return event === null ? [] : [{ id, event }]
  })
  const credits = await creditDeposits(
    trx,
    events.map(({ event }) => event),
    now,
  )
  for (const [i, credit] of credits.entries()) {
    if ('fault' in credit) throw credit.fault
    await trx
      .updateTable('wallet_events')
      .set({
        outcome: credit.outcome,
        vault_id: credit.vaultId,
        deposit_id: credit.depositId,
        quarantined: credit.quarantined === null ? null : JSON.stringify(credit.quarantined),
      })
      .where('id', '=', events[i]!.id)
      .execute()
  }
}

/** An event that is to be credited, unless it was before. */
type Candidate = { n: number; event: DepositEvent; addressKey: string; operation: NewOperation }

/** Credits every event that is due, each once; the answers are in the order of the events. */
async function creditDeposits(trx: Trx, events: DepositEvent[], now: Date): Promise<(Credit | { fault: AppError })[]> {
  if (events.length === 0) return []
  const targets = await findRecipients(trx, events, now)
  const candidates: Candidate[] = []
  const credits = events.map((event, n): Credit | { fault: AppError } => {
    const target = targets[n]!
    if (target === null || target.token === null || !target.token.enabled) return ignored
    const amount = parseDecimal(event.amountDecimal, target.token.decimals)
    if (amount === null)
      return { fault: badRequest('tx.amount', `must fit a token of ${target.token.decimals} decimals`) }
    const { addressKey } = target
    if (target.address === null) return { ...ignored, outcome: 'unmatched', addressKey }
    const operation = toOperation(event, target, target.token, target.address, amount, now)
    candidates.push({ n, event, addressKey, operation })
    return { outcome: 'credited', vaultId: operation.vaultId, depositId: operation.id, addressKey, quarantined: null }
  })

  const insertedIds = await insertDeposits(trx, candidates)
  const fresh = candidates.filter(({ operation }) => insertedIds.has(operation.id)).map(({ operation }) => operation)
  await insertRows(trx, { operations: fresh.map(toOperationRow) })
  const repeated = candidates.filter(({ operation }) => !insertedIds.has(operation.id))
  const firsts = await findDepositsByKey(trx, repeated.map(keyOf))
  for (const [i, candidate] of repeated.entries()) credits[candidate.n] = compareWithFirst(candidate, firsts[i]!)
  await postEntries(
    trx,
    fresh.map(({ id, ...operation }) => depositPosting({ ...operation, operationId: id })),
    now,
  )
  return credits
}

/** Inserts what has no deposit of the same key yet, in the order of the keys so that no two batches wait in a circle. */
async function insertDeposits(trx: Trx, candidates: Candidate[]): Promise<Set<string>> {
  if (candidates.length === 0) return new Set()
  const rows = candidates.map((candidate) => ({
    vault_id: candidate.operation.vaultId,
    id: candidate.operation.id,
    address_id: candidate.operation.addressId,
    token_id: candidate.operation.tokenId,
    tx_hash: candidate.event.txHash,
    tx_index: candidate.event.index,
    from_address: candidate.event.fromAddress,
    created_at: candidate.operation.now,
  }))
  const inserted = await sql<{ id: string }>`${prepared}
    insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, created_at)
    select vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, created_at from json_populate_recordset(null::deposits, ${JSON.stringify(rows)}::json) with ordinality as d
    order by d.vault_id, d.address_id, d.token_id, d.tx_hash, d.tx_index, d.ordinality
    on conflict (vault_id, address_id, token_id, tx_hash, tx_index) do nothing
    returning id`.execute(trx)
  return new Set(inserted.rows.map(({ id }) => id))
}

/**
 * An address may be created at this very moment: before an event is left unmatched, the lock that address creation
 * holds is taken and the address is looked for once more.
 */
async function findRecipients(trx: Trx, events: DepositEvent[], now: Date): Promise<(EventTarget | null)[]> {
  const targets = await findEventTargets(trx, events, now)
  const homeless = targets.flatMap((target, n) =>
    target !== null && target.address === null && target.token !== null ? [{ n, target }] : [],
  )
  if (homeless.length === 0) return targets
  const keys = new Map(homeless.map(({ target }) => [`${target.networkId} ${target.addressKey}`, target]))
  for (const [, { networkId, addressKey }] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await lockOnchainAddress(trx, networkId, addressKey)
  }
  const again = await findEventTargets(
    trx,
    homeless.map(({ n }) => events[n]!),
    now,
  )
  for (const [i, { n }] of homeless.entries()) targets[n] = again[i]!
  return targets
}

/** The same event again is a duplicate; the same event with another amount is set aside for people to look at. */
function compareWithFirst({ addressKey, operation }: Candidate, first: { id: string; amount: bigint }): Credit {
  const { vaultId, amount } = operation
  const common = { vaultId, depositId: first.id, addressKey }
  return first.amount === amount
    ? { ...common, outcome: 'duplicate', quarantined: null }
    : { ...common, outcome: 'quarantined', quarantined: { amount: amount.toString() } }
}

function keyOf({ event, operation }: Candidate): DepositKey {
  const { vaultId, addressId, tokenId } = operation
  return { vaultId, addressId, tokenId, txHash: event.txHash, index: event.index }
}

function toOperation(
  event: DepositEvent,
  target: EventTarget,
  token: { id: string; decimals: number },
  address: { vaultId: string; id: string; ownerId: string },
  amount: bigint,
  now: Date,
): NewOperation {
  return {
    vaultId: address.vaultId,
    id: newId(now),
    type: 'deposit',
    status: 'confirmed',
    addressId: address.id,
    ownerId: address.ownerId,
    initiatorId: null,
    networkId: target.networkId,
    tokenId: token.id,
    amount,
    decimals: token.decimals,
    rate: target.rate,
    flowType: target.isInternal ? 'internal' : 'external',
    counterparty: target.counterparty,
    txHash: event.txHash,
    tags: [],
    paymentPurpose: null,
    note: null,
    now,
    confirmedAt: now,
    blockchainAt: event.blockTime,
  }
}
