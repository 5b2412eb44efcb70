import type { Trx } from '../../../db/client.ts'
import { type AppError, badRequest } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { parseDecimal } from '../../../lib/money.ts'
import type { NewOperation } from '../../operations/feed/operation-rows.ts'
import { lockOnchainAddress } from '../../vaults/addresses/queries.ts'
import type { DepositEvent } from './parse-event.ts'
import { type DepositKey, type EventTarget, type FirstDeposit, findEventTargets } from './queries.ts'
import type { EventOutcome, EventReason } from './schema.ts'

/** The reported content of a quarantined event. It is complete, because the event may contradict no deposit. */
type Quarantined = {
  /** The amount in raw units. */
  amount: string
  addressId: string
  tokenId: string
  txHash: string
  index: number
  occurrence: number
  fromAddress: string | null
}

export type Credit = {
  outcome: EventOutcome
  reason: EventReason | null
  vaultId: string | null
  depositId: string | null
  /** The slug of the network; null when the network is unknown. */
  network: string | null
  addressKey: string | null
  quarantined: Quarantined | null
}
export type Outcome = Credit | { fault: AppError } | { needsVaultSecret: true }
export type AuthenticEvent = { event: DepositEvent; signedBy: string[] | null }

/** An event about a deposit at an address of a vault. The deposit is credited, unless that was done before, or taken back. */
export type Candidate = Pick<EventTarget, 'network' | 'addressKey'> & {
  /** The index of the event in the list. */
  n: number
  event: DepositEvent
  operation: NewOperation
}

/**
 * Returns the outcome of each event as far as its content decides it, and the candidates: the events about a deposit at an
 * address of a vault. The outcome of a candidate is `credited` until the caller finds that its deposit is known.
 */
export async function planCredits(
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
    const { network, addressKey, token } = target
    const isForeign = target.address !== null && !mayCredit(signedBy, target.address)
    if (isForeign && signedBy === null) return { needsVaultSecret: true }
    // The wallet service of another vault must not learn that the address exists, so it gets the same answer as for an unknown
    // address.
    const address = isForeign ? null : target.address
    const ignored = (reason: EventReason) => ({
      ...notCredited('ignored', reason, signedBy),
      network,
      addressKey,
      ...(address === null ? {} : { vaultId: address.vaultId }),
    })
    if (token === null) return ignored('unknown_token')
    if (!token.enabled && event.kind === 'TOPUP') return ignored('disabled_token')
    const amount = parseDecimal(event.amountDecimal, token.decimals)
    if (amount === null) return { fault: badRequest('tx.amount', `must fit a token of ${token.decimals} decimals`) }
    if (event.notFinal !== null) return ignored(event.notFinal)
    if (address === null) return { ...notCredited('unmatched', null, signedBy), network, addressKey }
    const operation = toOperation(event, target, token, address, amount, now)
    const candidate = { n, event, network, addressKey, operation }
    candidates.push(candidate)
    return plainOutcome(candidate, 'credited', { depositId: operation.id })
  })
  return { outcomes, candidates }
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

/**
 * Compares an event with the first one of its deposit. A repeated event is a duplicate; with another amount it is quarantined
 * for review. A deposit that was orphaned since, or before the event arrived, stays orphaned.
 */
export function compareWithFirst(candidate: Candidate, first: FirstDeposit): Credit {
  if (first.isOrphaned || first.amount === null) return plainOutcome(candidate, 'ignored', { reason: 'orphaned' })
  if (first.amount !== candidate.operation.amount) return quarantine(candidate, 'amount_differs', first.id)
  return plainOutcome(candidate, 'duplicate', { depositId: first.id })
}

export function plainOutcome(
  { network, addressKey, operation: { vaultId } }: Candidate,
  outcome: EventOutcome,
  { reason = null, depositId = null }: Partial<Pick<Credit, 'reason' | 'depositId'>>,
): Credit {
  return { outcome, reason, vaultId, depositId, network, addressKey, quarantined: null }
}

export function quarantine(
  { event, network, addressKey, operation }: Candidate,
  reason: EventReason,
  depositId: string | null,
): Credit {
  const { vaultId, addressId, tokenId, amount } = operation
  const { txHash, index, occurrence, fromAddress } = event
  return {
    outcome: 'quarantined',
    reason,
    vaultId,
    depositId,
    network,
    addressKey,
    quarantined: { amount: amount.toString(), addressId, tokenId, txHash, index, occurrence, fromAddress },
  }
}

/** Returns the outcome of an event that is not credited. An event signed by the secret of exactly one vault belongs to that vault. */
export function notCredited(
  outcome: 'ignored' | 'unmatched',
  reason: EventReason | null,
  signedBy: string[] | null,
): Credit {
  const vaultId = signedBy?.length === 1 ? signedBy[0]! : null
  return { outcome, reason, vaultId, depositId: null, network: null, addressKey: null, quarantined: null }
}

/**
 * Returns the key under which a quarantined event is stored once: the key of its deposit, the amount and the occurrence. After
 * the chain lost the deposit again, a contradiction is a new event. Occurrence 0 is left out, as in keys of older versions.
 */
export function keyOfQuarantined({ vaultId, reason, quarantined }: Credit): string | null {
  if (quarantined === null) return null
  const { addressId, tokenId, txHash, index, amount, occurrence } = quarantined
  const orphaned = reason === 'orphan_differs' ? ['orphaned'] : []
  const again = occurrence > 0 ? [occurrence] : []
  return [vaultId, addressId, tokenId, txHash, index, amount, ...orphaned, ...again].join(' ')
}

export function isCredit(outcome: Outcome): outcome is Credit {
  return 'outcome' in outcome
}

export function keyOf({ event, operation }: Candidate): DepositKey {
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

/**
 * Returns true if a signature may credit a deposit of the vault. A vault with its own secret is credited only under that
 * secret; the secret of the installation credits the vaults without one.
 *
 * @param signedBy the vaults whose own secret signed the event; null when the secret of the installation signed it, or when
 * events are not signed in demo mode
 */
export function mayCredit(signedBy: string[] | null, vault: { vaultId: string; hasVaultSecret: boolean }): boolean {
  return signedBy === null ? !vault.hasVaultSecret : signedBy.includes(vault.vaultId)
}
