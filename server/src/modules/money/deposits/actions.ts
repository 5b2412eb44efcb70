import { type Insertable, sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { WalletEvents } from '../../../db/types.ts'
import type { AppError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { toOperationRow } from '../../operations/feed/operation-rows.ts'
import { holdNewDeposits } from '../holds/screened.ts'
import { isOverflow, postEntries, posting } from '../ledger/postings.ts'
import { changeHistory, changesHistory } from './orphan.ts'
import { type DepositEvent, parseStoredEvent } from './parse-event.ts'
import {
  type AuthenticEvent,
  type Candidate,
  compareWithFirst,
  isCredit,
  keyOf,
  keyOfQuarantined,
  notCredited,
  type Outcome,
  planCredits,
  quarantine,
} from './plan-credits.ts'
import { findDepositsByKey, insertEventsOnce } from './queries.ts'
import type { EventOutcome, EventReason } from './schema.ts'

/**
 * An authentic event; null for an ignored type. `rawBody` is the body as received. `signedBy` holds the vaults whose own secret
 * signed the event; it is null when the secret of the installation signed it, and for an unsigned event in demo mode.
 */
export type Arrival = { event: DepositEvent | null; rawBody: string; signedBy: string[] | null }

/** The answer to an event. Refused events are not stored, nor are events that only the secret of the vault may credit. */
export type ArrivalAnswer =
  | { outcome: EventOutcome; reason: EventReason | null; depositId: string | null }
  | { fault: AppError }
  | { needsVaultSecret: true }

/** `now` is the time of the credit. `isScreened` is true if each deposit is held until the screening has allowed it. */
export type Crediting = { now: Date; isScreened: boolean }

/**
 * Stores authentic events as received and applies them, so that every credit has its record: each event that changes history in
 * a transaction of its own, all others in one. A refused event has no effect on the others. The database refuses an amount that
 * exceeds its account. The usual path does not check this in advance: a single event that fails for this reason is processed
 * again, and is quarantined.
 */
export async function commitWalletEvents(db: Db, arrivals: Arrival[], crediting: Crediting): Promise<ArrivalAnswer[]> {
  const receive = (batch: Arrival[], credit: CreditEvents) =>
    inTransaction(db, (trx) => receiveWalletEvents(trx, { arrivals: batch, credit, crediting }))
  const usual = arrivals.filter(({ event }) => event === null || !changesHistory(event))
  const answers = new Map<Arrival, ArrivalAnswer>()
  try {
    const found = usual.length === 0 ? [] : await receive(usual, creditDeposits)
    for (const [i, arrival] of usual.entries()) answers.set(arrival, found[i]!)
  } catch (error) {
    if (arrivals.length > 1 || !isOverflow(error)) throw error
    return receive(arrivals, applyOneByOne)
  }
  // Each event runs separately, because it locks the vault before anything else.
  for (const arrival of arrivals) {
    if (!answers.has(arrival)) answers.set(arrival, (await receive([arrival], applyOneByOne))[0]!)
  }
  return arrivals.map((arrival) => answers.get(arrival)!)
}

type CreditEvents = (trx: Trx, events: AuthenticEvent[], crediting: Crediting) => Promise<Outcome[]>

async function receiveWalletEvents(
  trx: Trx,
  { arrivals, credit, crediting }: { arrivals: Arrival[]; credit: CreditEvents; crediting: Crediting },
): Promise<ArrivalAnswer[]> {
  const found = await credit(
    trx,
    arrivals.flatMap(({ event, signedBy }) => (event === null ? [] : [{ event, signedBy }])),
    crediting,
  )
  const outcomes = arrivals.map(({ event, signedBy }) =>
    event === null ? notCredited('ignored', 'unknown_kind', signedBy) : found.shift()!,
  )
  await insertWalletEvents(trx, arrivals, outcomes, crediting.now)
  return outcomes.map((outcome) =>
    isCredit(outcome) ? { outcome: outcome.outcome, reason: outcome.reason, depositId: outcome.depositId } : outcome,
  )
}

/** A repeated quarantined event stays one row; rows of other outcomes are written without that check. */
async function insertWalletEvents(trx: Trx, arrivals: Arrival[], outcomes: Outcome[], now: Date): Promise<void> {
  const usual: Insertable<WalletEvents>[] = []
  const others: Insertable<WalletEvents>[] = []
  for (const [i, credit] of outcomes.entries()) {
    if (!isCredit(credit)) continue
    const { event, rawBody, signedBy } = arrivals[i]!
    const row = {
      id: newId(now),
      received_at: now,
      body: rawBody,
      network: credit.network ?? event?.network ?? null,
      address_key: credit.addressKey,
      outcome: credit.outcome,
      vault_id: credit.vaultId,
      deposit_id: credit.depositId,
    }
    if (credit.outcome === 'credited' || credit.outcome === 'duplicate') usual.push(row)
    else {
      const { reason, quarantined } = credit
      others.push({ ...row, reason, signed_by: signedBy, quarantined, quarantine_key: keyOfQuarantined(credit) })
    }
  }
  await insertRows(trx, { wallet_events: usual })
  await insertEventsOnce(trx, others)
}

/**
 * Credits the events that arrived before their address existed; runs in the transaction that creates the address. Events
 * from the wallet service of another vault, and events that can no longer be parsed, are left as they are.
 */
export async function creditUnmatchedEvents(
  trx: Trx,
  address: { vaultId: string; networkId: string; addressKey: string },
  crediting: Crediting,
): Promise<void> {
  const stored = await trx
    .selectFrom('wallet_events')
    .innerJoin('networks', 'networks.slug', 'wallet_events.network')
    .select(['wallet_events.id', 'wallet_events.body', 'wallet_events.network', 'wallet_events.signed_by'])
    .where('networks.id', '=', address.networkId)
    .where('wallet_events.address_key', '=', address.addressKey)
    .where('wallet_events.outcome', '=', 'unmatched')
    .where((e) => e.or([e('signed_by', 'is', null), e(e.val(address.vaultId), '=', e.fn.any('signed_by'))]))
    .orderBy('wallet_events.id')
    .execute()
  const events = stored.flatMap((row) => {
    const event = parseStoredEvent(row)
    return event === null ? [] : [{ id: row.id, event, signedBy: row.signed_by }]
  })
  // A deposit that the chain lost before the address existed is never credited, not even for a moment.
  events.sort((a, b) => Number(isTopUp(a)) - Number(isTopUp(b)) || a.event.occurrence - b.event.occurrence)
  const outcomes = await applyOneByOne(trx, events, crediting)
  const quarantineKeys = new Set<string>()
  for (const [i, credit] of outcomes.entries()) {
    if (!isCredit(credit) || credit.outcome === 'unmatched') continue
    const key = keyOfQuarantined(credit)
    await trx
      .updateTable('wallet_events')
      .set({
        outcome: credit.outcome,
        reason: credit.reason,
        vault_id: credit.vaultId,
        deposit_id: credit.depositId,
        quarantined: credit.quarantined === null ? null : JSON.stringify(credit.quarantined),
        // The address is new, so only these events can have the key.
        quarantine_key: key === null || quarantineKeys.has(key) ? null : key,
      })
      .where('id', '=', events[i]!.id)
      .execute()
    if (key !== null) quarantineKeys.add(key)
  }
}

const isTopUp = ({ event }: { event: DepositEvent }): boolean => event.kind === 'TOPUP'

/**
 * Credits an event that was quarantined before. Returns the outcome, whose deposit is the credited one if it is `credited` or
 * `duplicate`; null when the stored event can no longer be read.
 */
export async function creditQuarantinedEvent(
  trx: Trx,
  stored: { body: string; network: string; signedBy: string[] | null },
  crediting: Crediting,
): Promise<Outcome | null> {
  const event = parseStoredEvent(stored)
  if (event === null) return null
  const [outcome] = await applyOneByOne(trx, [{ event, signedBy: stored.signedBy }], crediting)
  return outcome!
}

/** Credits every due event once. Returns the outcomes in the order of the events. */
async function creditDeposits(trx: Trx, events: AuthenticEvent[], crediting: Crediting): Promise<Outcome[]> {
  const { outcomes, candidates } = await planCredits(trx, events, crediting.now)
  return postCredits(trx, outcomes, candidates, crediting)
}

/**
 * Applies events in their order: deposits that the chain took back or brought back, and new deposits. An event whose amount
 * exceeds its account is quarantined.
 */
async function applyOneByOne(trx: Trx, events: AuthenticEvent[], crediting: Crediting): Promise<Outcome[]> {
  const all: Outcome[] = []
  for (const event of events) {
    const { outcomes, candidates } = await planCredits(trx, [event], crediting.now)
    const [candidate] = candidates
    const isHistory = candidate !== undefined && changesHistory(event.event)
    const changed = isHistory ? await changeHistory(trx, candidate, crediting.now) : null
    if (candidate === undefined) all.push(...outcomes)
    else all.push(changed ?? (await creditAlone(trx, outcomes, candidate, crediting)))
  }
  return all
}

async function creditAlone(
  trx: Trx,
  outcomes: Outcome[],
  candidate: Candidate,
  crediting: Crediting,
): Promise<Outcome> {
  await sql`savepoint credit`.execute(trx)
  const [outcome] = await postCredits(trx, outcomes, [candidate], crediting).catch(async (error: unknown) => {
    if (!isOverflow(error)) throw error
    await sql`rollback to savepoint credit`.execute(trx)
    return [quarantine(candidate, 'overflow', null)]
  })
  await sql`release savepoint credit`.execute(trx)
  return outcome!
}

async function postCredits(
  trx: Trx,
  outcomes: Outcome[],
  candidates: Candidate[],
  { now, isScreened }: Crediting,
): Promise<Outcome[]> {
  const insertedIds = await insertDeposits(trx, candidates)
  const fresh = candidates.filter(({ operation }) => insertedIds.has(operation.id)).map(({ operation }) => operation)
  await insertRows(trx, { operations: fresh.map(toOperationRow) })
  const repeated = candidates.filter(({ operation }) => !insertedIds.has(operation.id))
  const firsts = await findDepositsByKey(trx, repeated.map(keyOf))
  const all = [...outcomes]
  for (const [i, candidate] of repeated.entries()) all[candidate.n] = compareWithFirst(candidate, firsts[i]!)
  const credits = fresh.map(({ id: operationId, vaultId, tokenId, addressId, amount }) =>
    posting('deposit', { vaultId, tokenId, addressId, operationId, amount }),
  )
  const held = isScreened && fresh.length > 0 ? await holdNewDeposits(trx, fresh, now) : []
  await postEntries(trx, [...credits, ...held], now)
  return all
}

/** Inserts the deposits whose keys are new, in the order of the keys so that two batches cannot deadlock. */
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
    occurrence: candidate.event.occurrence,
    created_at: candidate.operation.now,
  }))
  const ifKnown = candidates.some(({ event }) => event.occurrence > 0) ? replaceUncredited : sql`do nothing`
  const inserted = await sql<{ id: string }>`${prepared}
    insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, occurrence, created_at)
    select vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, occurrence, created_at
    from json_populate_recordset(null::deposits, ${JSON.stringify(rows)}::json) with ordinality as d
    order by d.vault_id, d.address_id, d.token_id, d.tx_hash, d.tx_index, d.ordinality
    on conflict (vault_id, address_id, token_id, tx_hash, tx_index) ${ifKnown}
    returning id`.execute(trx)
  return new Set(inserted.rows.map(({ id }) => id))
}

/** SQL: a deposit that was orphaned before it was ever credited has no operation; its row is reused when the deposit comes back. */
const replaceUncredited = sql`do update
  set id = excluded.id, from_address = excluded.from_address, occurrence = excluded.occurrence, orphaned_at = null,
    created_at = excluded.created_at
  where deposits.orphaned_at is not null and deposits.occurrence < excluded.occurrence
    and not exists (select from operations o where o.vault_id = deposits.vault_id and o.id = deposits.id)`
