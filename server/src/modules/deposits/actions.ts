import { sql } from 'kysely'
import type { Trx } from '../../db/client.ts'
import { badRequest } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { parseDecimal } from '../../lib/money.ts'
import { lockOnchainAddress } from '../addresses/queries.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { depositPosting } from '../ledger/postings.ts'
import { insertOperation } from '../operations/write.ts'
import { type DepositEvent, parseWalletEvent } from './parse-event.ts'
import { type EventTarget, findEventTarget } from './queries.ts'

export type EventOutcome = 'credited' | 'duplicate' | 'ignored' | 'unmatched' | 'quarantined'
type Credit = {
  outcome: EventOutcome
  vaultId: string | null
  depositId: string | null
  addressKey: string | null
  quarantined?: object
}

const ignored: Credit = { outcome: 'ignored', vaultId: null, depositId: null, addressKey: null }

/**
 * Stores an authentic event as it arrived and does what it says, both in `trx`: a credit and its record cannot part.
 * @throws 400 for malformed fields; nothing is written then
 */
export async function receiveWalletEvent(
  trx: Trx,
  { body, rawBody, now }: { body: unknown; rawBody: string; now: Date },
): Promise<{ outcome: EventOutcome; depositId: string | null }> {
  const event = parseWalletEvent(body)
  const credit = event === null ? ignored : await creditDeposit(trx, event, now)
  await trx
    .insertInto('wallet_events')
    .values({
      id: newId(now),
      received_at: now,
      body: rawBody,
      network: event?.network ?? null,
      address_key: credit.addressKey,
      outcome: credit.outcome,
      vault_id: credit.vaultId,
      deposit_id: credit.depositId,
      quarantined: quarantinedOf(credit),
    })
    .execute()
  return { outcome: credit.outcome, depositId: credit.depositId }
}

/** Credits the events that arrived before their address existed; runs in the transaction that creates the address. */
export async function creditUnmatchedEvents(
  trx: Trx,
  address: { networkId: string; addressKey: string },
  now: Date,
): Promise<void> {
  const events = await trx
    .selectFrom('wallet_events')
    .innerJoin('networks', 'networks.slug', 'wallet_events.network')
    .select(['wallet_events.id', 'wallet_events.body'])
    .where('networks.id', '=', address.networkId)
    .where('wallet_events.address_key', '=', address.addressKey)
    .where('wallet_events.outcome', '=', 'unmatched')
    .orderBy('wallet_events.id')
    .execute()
  for (const stored of events) {
    const event = parseWalletEvent(JSON.parse(stored.body))
    if (event === null) continue
    const credit = await creditDeposit(trx, event, now)
    await trx
      .updateTable('wallet_events')
      .set({
        outcome: credit.outcome,
        vault_id: credit.vaultId,
        deposit_id: credit.depositId,
        quarantined: quarantinedOf(credit),
      })
      .where('id', '=', stored.id)
      .execute()
  }
}

function quarantinedOf(credit: Credit): string | null {
  return credit.quarantined === undefined ? null : JSON.stringify(credit.quarantined)
}

async function creditDeposit(trx: Trx, event: DepositEvent, now: Date): Promise<Credit> {
  const target = await findRecipient(trx, event, now)
  if (target === null || target.token === null || !target.token.enabled) return ignored
  const amount = parseDecimal(event.amountDecimal, target.token.decimals)
  if (amount === null) throw badRequest('tx.amount', `must fit a token of ${target.token.decimals} decimals`)
  const { address, token, addressKey } = target
  if (address === null) return { outcome: 'unmatched', vaultId: null, depositId: null, addressKey }

  const { vaultId } = address
  const id = newId(now)
  const inserted = await trx
    .insertInto('deposits')
    .values({
      vault_id: vaultId,
      id,
      address_id: address.id,
      token_id: token.id,
      tx_hash: event.txHash,
      tx_index: event.index,
      from_address: event.fromAddress,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['vault_id', 'address_id', 'token_id', 'tx_hash', 'tx_index']).doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  if (inserted === undefined)
    return compareWithFirst(trx, { vaultId, addressId: address.id, tokenId: token.id, addressKey, event, amount })

  await insertOperation(trx, {
    vaultId,
    id,
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
  })
  await postEntries(
    trx,
    [depositPosting({ vaultId, tokenId: token.id, addressId: address.id, operationId: id, amount })],
    now,
  )
  return { outcome: 'credited', vaultId, depositId: id, addressKey }
}

/**
 * An address may be created at this very moment: before an event is left unmatched, the lock that address creation
 * holds is taken and the address is looked for once more.
 */
async function findRecipient(trx: Trx, event: DepositEvent, now: Date): Promise<EventTarget | null> {
  const target = await findEventTarget(trx, event, now)
  if (target === null || target.address !== null || target.token === null) return target
  await lockOnchainAddress(trx, target.networkId, target.addressKey)
  return findEventTarget(trx, event, now)
}

type Repeated = {
  vaultId: string
  addressId: string
  tokenId: string
  addressKey: string
  event: DepositEvent
  amount: bigint
}

/** The same event again is a duplicate; the same event with another amount is set aside for people to look at. */
async function compareWithFirst(trx: Trx, repeated: Repeated): Promise<Credit> {
  const { vaultId, addressId, tokenId, addressKey, event, amount } = repeated
  const { rows } = await sql<{ id: string; amount: string }>`
    select o.id, o.amount from deposits d join operations o on o.vault_id = d.vault_id and o.id = d.id
    where d.vault_id = ${vaultId} and d.address_id = ${addressId} and d.token_id = ${tokenId}
      and d.tx_hash = ${event.txHash} and d.tx_index = ${event.index}`.execute(trx)
  const first = rows[0]
  if (first === undefined) throw new Error('A deposit that blocks another one must exist')
  if (BigInt(first.amount) === amount) return { outcome: 'duplicate', vaultId, depositId: first.id, addressKey }
  return {
    outcome: 'quarantined',
    vaultId,
    depositId: first.id,
    addressKey,
    quarantined: { amount: amount.toString() },
  }
}
