import { type Insertable, sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { WalletEvents } from '../../../db/types.ts'
import { type AppError, badRequest } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { parseDecimal } from '../../../lib/money.ts'
import { type NewOperation, toOperationRow } from '../../operations/feed/write.ts'
import { lockOnchainAddress } from '../../vaults/addresses/queries.ts'
import { isOverflow, postEntries } from '../ledger/post-entries.ts'
import { depositPosting } from '../ledger/postings.ts'
import { holdNewDeposits } from '../screening/hold.ts'
import { mayCredit } from './authority.ts'
import { type DepositEvent, parseStoredEvent } from './parse-event.ts'
import { type DepositKey, type EventTarget, findDepositsByKey, findEventTargets, insertEventsOnce } from './queries.ts'
import type { EventOutcome, EventReason } from './schema.ts'

/**
 * An authentic event; null: of a type that is ignored. `rawBody` is the body as received. `signedBy` are the vaults whose
 * own secret signed it; null: the secret of the installation signed it, or nothing did in demo mode.
 */
export type Arrival = { event: DepositEvent | null; rawBody: string; signedBy: string[] | null }

/** The answer to an event. A refused event is not stored, nor is one that only the vault's own secret may credit. */
export type ArrivalAnswer =
  | { outcome: EventOutcome; reason: EventReason | null; depositId: string | null }
  | { fault: AppError }
  | { needsVaultSecret: true }

/** The reported content of a quarantined event, in full, because it may have no deposit that it contradicts. */
type Quarantined = {
  /** In raw units. */
  amount: string
  addressId: string
  tokenId: string
  txHash: string
  index: number
  fromAddress: string | null
}

type Credit = {
  outcome: EventOutcome
  reason: EventReason | null
  vaultId: string | null
  depositId: string | null
  addressKey: string | null
  quarantined: Quarantined | null
}
type Outcome = Credit | { fault: AppError } | { needsVaultSecret: true }
/** When, and whether what is credited is held until the screening has allowed it. */
export type Crediting = { now: Date; isScreened: boolean }
type AuthenticEvent = { event: DepositEvent; signedBy: string[] | null }

/**
 * Stores authentic events as received and applies them, in one transaction, so that a credit always has its record.
 * A refused event has no effect on the others.
 *
 * The database refuses an amount that exceeds its account. The usual path does not check for it: when an event fails
 * alone for this reason, it is processed again and quarantined.
 */
export async function commitWalletEvents(db: Db, arrivals: Arrival[], crediting: Crediting): Promise<ArrivalAnswer[]> {
  const receive = (credit: CreditEvents) =>
    inTransaction(db, (trx) => receiveWalletEvents(trx, { arrivals, credit, crediting }))
  try {
    return await receive(creditDeposits)
  } catch (error) {
    if (arrivals.length > 1 || !isOverflow(error)) throw error
    return receive(creditOneByOne)
  }
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
  return outcomes.map((one) =>
    isCredit(one) ? { outcome: one.outcome, reason: one.reason, depositId: one.depositId } : one,
  )
}

/** A quarantined event that is repeated stays one row; rows of other outcomes are written without that check. */
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
      network: event?.network ?? null,
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
    .select(['wallet_events.id', 'wallet_events.body', 'wallet_events.signed_by'])
    .where('networks.id', '=', address.networkId)
    .where('wallet_events.address_key', '=', address.addressKey)
    .where('wallet_events.outcome', '=', 'unmatched')
    .where((e) => e.or([e('signed_by', 'is', null), e(e.val(address.vaultId), '=', e.fn.any('signed_by'))]))
    .orderBy('wallet_events.id')
    .execute()
  const events = stored.flatMap(({ id, body, signed_by }) => {
    const event = parseStoredEvent(body)
    return event === null ? [] : [{ id, event, signedBy: signed_by }]
  })
  const outcomes = await creditOneByOne(trx, events, crediting)
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
        // The address is new, so no event but these can have the key.
        quarantine_key: key === null || quarantineKeys.has(key) ? null : key,
      })
      .where('id', '=', events[i]!.id)
      .execute()
    if (key !== null) quarantineKeys.add(key)
  }
}

/** Credits an event that was quarantined before. Returns the deposit; null: its account cannot hold the amount. */
export async function creditQuarantinedEvent(
  trx: Trx,
  { body, signedBy }: { body: string; signedBy: string[] | null },
  crediting: Crediting,
): Promise<string | null> {
  const event = parseStoredEvent(body)
  if (event === null) return null
  const [outcome] = await creditOneByOne(trx, [{ event, signedBy }], crediting)
  const isCredited = outcome !== undefined && isCredit(outcome) && outcome.quarantined === null
  return isCredited ? outcome.depositId : null
}

/** An event to credit, unless it was credited before. */
type Candidate = { n: number; event: DepositEvent; addressKey: string; operation: NewOperation }

/** Credits every event that is due, each once; returns the outcomes in the order of the events. */
async function creditDeposits(trx: Trx, events: AuthenticEvent[], crediting: Crediting): Promise<Outcome[]> {
  const { outcomes, candidates } = await planCredits(trx, events, crediting.now)
  return postCredits(trx, outcomes, candidates, crediting)
}

/** As `creditDeposits`, but an event whose amount exceeds its account is quarantined. */
async function creditOneByOne(trx: Trx, events: AuthenticEvent[], crediting: Crediting): Promise<Outcome[]> {
  const all: Outcome[] = []
  for (const event of events) {
    const { outcomes, candidates } = await planCredits(trx, [event], crediting.now)
    const [candidate] = candidates
    if (candidate === undefined) {
      all.push(...outcomes)
      continue
    }
    await sql`savepoint credit`.execute(trx)
    try {
      all.push(...(await postCredits(trx, outcomes, candidates, crediting)))
    } catch (error) {
      if (!isOverflow(error)) throw error
      await sql`rollback to savepoint credit`.execute(trx)
      all.push(quarantine(candidate, 'overflow', null))
    }
    await sql`release savepoint credit`.execute(trx)
  }
  return all
}

async function planCredits(
  trx: Trx,
  events: AuthenticEvent[],
  now: Date,
): Promise<{ outcomes: Outcome[]; candidates: Candidate[] }> {
  const candidates: Candidate[] = []
  if (events.length === 0) return { outcomes: [], candidates }
  const targets = await findRecipients(
    trx,
    events.map(({ event }) => event),
    now,
  )
  const outcomes = events.map(({ event, signedBy }, n): Outcome => {
    const target = targets[n]!
    if (target === null) return notCredited('ignored', 'unknown_network', signedBy)
    const { addressKey, token } = target
    const isForeign = target.address !== null && !mayCredit(signedBy, target.address)
    if (isForeign && signedBy === null) return { needsVaultSecret: true }
    // The wallet service of another vault must not learn that the address exists, so it gets the same answer as for none.
    const address = isForeign ? null : target.address
    const ignored = (reason: EventReason) => ({
      ...notCredited('ignored', reason, signedBy),
      addressKey,
      ...(address === null ? {} : { vaultId: address.vaultId }),
    })
    if (token === null) return ignored('unknown_token')
    if (!token.enabled) return ignored('disabled_token')
    const amount = parseDecimal(event.amountDecimal, token.decimals)
    if (amount === null) return { fault: badRequest('tx.amount', `must fit a token of ${token.decimals} decimals`) }
    if (event.notFinal !== null) return ignored(event.notFinal)
    if (address === null) return { ...notCredited('unmatched', null, signedBy), addressKey }
    const operation = toOperation(event, target, token, address, amount, now)
    candidates.push({ n, event, addressKey, operation })
    const { vaultId, id: depositId } = operation
    return { outcome: 'credited', reason: null, vaultId, depositId, addressKey, quarantined: null }
  })
  return { outcomes, candidates }
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
  const credits = fresh.map(({ id, ...operation }) => depositPosting({ ...operation, operationId: id }))
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
    created_at: candidate.operation.now,
  }))
  const inserted = await sql<{ id: string }>`${prepared}
    insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, created_at)
    select vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, created_at
    from json_populate_recordset(null::deposits, ${JSON.stringify(rows)}::json) with ordinality as d
    order by d.vault_id, d.address_id, d.token_id, d.tx_hash, d.tx_index, d.ordinality
    on conflict (vault_id, address_id, token_id, tx_hash, tx_index) do nothing
    returning id`.execute(trx)
  return new Set(inserted.rows.map(({ id }) => id))
}

/**
 * The address may be created concurrently: before an event is stored as unmatched, the lock of address creation is taken
 * and the address is looked up again.
 */
async function findRecipients(trx: Trx, events: DepositEvent[], now: Date): Promise<(EventTarget | null)[]> {
  const targets = await findEventTargets(trx, events, now)
  const unmatched = targets.flatMap((target, n) =>
    target !== null && target.address === null && target.token !== null ? [{ n, target }] : [],
  )
  if (unmatched.length === 0) return targets
  const keys = new Map(unmatched.map(({ target }) => [`${target.networkId} ${target.addressKey}`, target]))
  for (const [, { networkId, addressKey }] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await lockOnchainAddress(trx, networkId, addressKey)
  }
  const again = await findEventTargets(
    trx,
    unmatched.map(({ n }) => events[n]!),
    now,
  )
  for (const [i, { n }] of unmatched.entries()) targets[n] = again[i]!
  return targets
}

/** A repeated event is a duplicate; a repeated event with another amount is quarantined for review. */
function compareWithFirst(candidate: Candidate, first: { id: string; amount: bigint }): Credit {
  const { addressKey, operation } = candidate
  const { vaultId, amount } = operation
  if (first.amount !== amount) return quarantine(candidate, 'amount_differs', first.id)
  return { outcome: 'duplicate', reason: null, vaultId, depositId: first.id, addressKey, quarantined: null }
}

function quarantine(
  { event, addressKey, operation }: Candidate,
  reason: EventReason,
  depositId: string | null,
): Credit {
  const { vaultId, addressId, tokenId, amount } = operation
  const { txHash, index, fromAddress } = event
  return {
    outcome: 'quarantined',
    reason,
    vaultId,
    depositId,
    addressKey,
    quarantined: { amount: amount.toString(), addressId, tokenId, txHash, index, fromAddress },
  }
}

/** An event signed by exactly one vault's secret belongs to that vault. */
function notCredited(outcome: 'ignored' | 'unmatched', reason: EventReason | null, signedBy: string[] | null): Credit {
  const vaultId = signedBy?.length === 1 ? signedBy[0]! : null
  return { outcome, reason, vaultId, depositId: null, addressKey: null, quarantined: null }
}

/** The key of the deposit with the amount. Migration 0022 gave older events keys of the same form. */
function keyOfQuarantined({ vaultId, quarantined }: Credit): string | null {
  if (quarantined === null) return null
  const { addressId, tokenId, txHash, index, amount } = quarantined
  return [vaultId, addressId, tokenId, txHash, index, amount].join(' ')
}

function isCredit(outcome: Outcome): outcome is Credit {
  return 'outcome' in outcome
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
