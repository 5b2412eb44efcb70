import type { Trx } from '../../../db/client.ts'
import { sqlStateOf, violates } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { type AppError, conflict, notFound } from '../../../lib/errors.ts'
import { isSameAddress } from '../../../lib/onchain-address.ts'
import { correctOperationAmount } from '../../operations/feed/operation-rows.ts'
import { audit } from '../../record/audit/record.ts'
import type { TransactionState } from '../../registry/wallet-service/answers.ts'
import { throwBadGateway } from '../../registry/wallet-service/call.ts'
import { assertNotHeld, findHoldOnDeposit } from '../../rules/holds/active.ts'
import { type Executor, StaleError, type Step, type StepContext } from '../../rules/votes/executor.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { isBelowZero } from '../adjustments/adjust.ts'
import { holdSurplus } from '../holds/screened.ts'
import { postEntries, signedPosting } from '../ledger/postings.ts'
import { deciding, notProven } from '../resolutions/may-resolve.ts'
import { type Crediting, creditQuarantinedEvent } from './actions.ts'
import { orphanDeposit, type Reorganised, returnDeposit } from './orphan.ts'
import { parseStoredEvent } from './parse-event.ts'
import { isCredit, type Outcome } from './plan-credits.ts'
import { findQuarantined, lockQuarantined, type QuarantinedEvent, resolveQuarantined } from './queries.ts'

export const eventOutcomes = ['credit', 'dismiss'] as const
type RequestedResolution = { outcome: (typeof eventOutcomes)[number]; reason: string }

/** The evidence that the server gathered about a quarantined event; voters see it and hash it. */
type EventEvidence = {
  askedAt: string
  /** The event, with its amount in the smallest unit. */
  event: Pick<QuarantinedEvent, 'reason' | 'amount' | 'address' | 'network' | 'contract' | 'txHash' | 'index'>
  /** The deposit that the event contradicts, with the credited amount. */
  deposit: { id: string; amount: string } | null
  /** The finding, in a sentence. */
  finding: string
  /** The transaction; null when the chain does not know it, or the wallet service does not tell. */
  transaction: TransactionState | null
}

type EventPayload = RequestedResolution & { evidence: EventEvidence | null }

/**
 * Asks the wallet service about the transaction of a quarantined event, without an open transaction of the database.
 * @throws 404, 409 with the finding instead of a proof, 502
 */
export async function gatherEventEvidence(
  deps: Deps,
  { vaultId, id }: { vaultId: string; id: string },
  { outcome }: RequestedResolution,
): Promise<EventEvidence> {
  const found = await findQuarantined(deps.db, vaultId, id)
  if (found === null) throw notFound('Wallet event')
  assertQuarantined(found)
  const transaction = await askChain(deps, vaultId, found)
  const objection = objectionTo(found, transaction)
  if (outcome === 'credit' && objection !== null) throw notProven(objection)
  const { reason, amount, address, network, contract, txHash, index, depositId, credited } = found
  return {
    askedAt: deps.clock().toISOString(),
    event: { reason, amount, address, network, contract, txHash, index },
    deposit: depositId === null || credited === null ? null : { id: depositId, amount: credited },
    finding: objection ?? findingOf(found, transaction),
    transaction,
  }
}

/** Credits or dismisses a quarantined event, by two people and with evidence (contract 7.8). */
export function eventResolveExecutor(deps: Deps): Executor {
  return {
    async prepare(db, { vaultId }, step) {
      const found = await findQuarantined(db, vaultId, step.targetId ?? '')
      if (found === null) throw notFound('Wallet event')
      if (payloadOf(step).evidence !== null) assertQuarantined(found)
      const baseVersion = versionOf(found)
      return { step, targetType: 'wallet_event', targetId: step.targetId, baseVersion, facts: {} }
    },

    decide: deciding('event_resolve', 'event'),

    async prefetch({ vaultId }, step, use) {
      const found = await findQuarantined(deps.db, vaultId, step.targetId ?? '')
      const isAsked = found !== null && payloadOf(step).outcome === 'credit'
      return use(isAsked ? await askChain(deps, vaultId, found) : null)
    },

    async apply(trx, context, step, baseVersion, fetched) {
      const found = await lockQuarantined(trx, context.vaultId, step.targetId ?? '')
      if (found === null) throw notFound('Wallet event')
      if (found.outcome !== 'quarantined' || versionOf(found) !== baseVersion) throw new StaleError()
      const isScreened = deps.config.screening !== null
      await carryOut(trx, found, { step, context, transaction: fetched as TransactionState | null, isScreened })
      return { resultId: found.id }
    },
  }
}

type Resolution = { step: Step; context: StepContext; transaction: TransactionState | null; isScreened: boolean }

async function carryOut(
  trx: Trx,
  found: QuarantinedEvent,
  { step, context, transaction, isScreened }: Resolution,
): Promise<void> {
  const { vaultId, initiatorId: actorId, now } = context
  const { outcome, reason } = payloadOf(step)
  const by = { vaultId, actorId, now }
  const target = { type: 'wallet_event', id: found.id }
  if (outcome === 'dismiss') {
    await resolveQuarantined(trx, found, { outcome: 'dismissed', depositId: found.depositId })
    await audit(trx, by, 'wallet_event.dismissed', target, { reason, amount: found.amount })
    return
  }
  const objection = objectionTo(found, transaction)
  if (objection !== null) throw notProven(objection)
  if (isOrphaning(found)) {
    await orphanDeposit(trx, toReorganised(found, vaultId), now)
    await resolveQuarantined(trx, found, { outcome: 'orphaned', depositId: found.depositId })
    await audit(trx, by, 'wallet_event.applied', target, { reason, amount: found.amount, depositId: found.depositId })
    return
  }
  const crediting = { now, isScreened }
  const depositId = found.depositId ?? (await creditAnew(trx, found, crediting))
  if (found.depositId !== null) await creditAsReported(trx, found, vaultId, crediting)
  await resolveQuarantined(trx, found, { outcome: 'credited', depositId })
  const details = { reason, amount: found.amount, before: found.credited, depositId }
  await audit(trx, by, 'wallet_event.credited', target, details)
}

/** Returns the state that a decision about an event is based on: the deposit that the event contradicts, as the books have it. */
const versionOf = ({ credited, occurrence, isOrphaned }: QuarantinedEvent): string =>
  `${credited ?? 'none'}${occurrence > 0 || isOrphaned ? ` ${isOrphaned ? 'orphaned' : 'back'} ${occurrence}` : ''}`

/** Credits an event whose amount the account could not hold before. @throws 409 */
async function creditAnew(trx: Trx, found: QuarantinedEvent, crediting: Crediting): Promise<string> {
  const outcome = await creditQuarantinedEvent(trx, found, crediting)
  const isCredited = outcome !== null && isCredit(outcome) && /^(credited|duplicate)$/.test(outcome.outcome)
  if (!isCredited || outcome.depositId === null) throw whyNotCredited(outcome)
  return outcome.depositId
}

/** Returns the reason why an event still credits nothing: the account, or a change since the event arrived. */
function whyNotCredited(outcome: Outcome | null): AppError {
  if (outcome === null) return conflict('wrong_state', 'The stored event can no longer be read')
  if ('needsVaultSecret' in outcome)
    return conflict('wrong_state', 'The vault has its own webhook secret since, and the event is not signed with it')
  if ('fault' in outcome) return conflict('wrong_state', 'The amount of the event no longer fits the token')
  switch (outcome.reason) {
    case 'overflow':
      return conflict('balance_overflow', 'The account of the address still cannot hold the amount')
    case 'disabled_token':
      return conflict('disabled', 'The token is disabled')
    case 'orphaned':
      return conflict('wrong_state', 'The chain lost the deposit after this event')
    case 'amount_differs':
      return conflict('wrong_state', 'The deposit was credited with another amount since')
    default:
      return conflict('wrong_state', 'The event is no longer of an address and a token that it may credit')
  }
}

/**
 * Moves the difference between the credited amount and the amount on the chain; an orphaned deposit is credited again first. A held
 * deposit is not corrected, because its hold has reserved the credited amount.
 * @throws 409
 */
async function creditAsReported(
  trx: Trx,
  found: QuarantinedEvent,
  vaultId: string,
  { now, isScreened }: Crediting,
): Promise<void> {
  const { depositId: operationId, addressId, tokenId } = found
  const difference = BigInt(found.amount) - BigInt(found.credited ?? '0')
  const deposit = toReorganised(found, vaultId)
  if (operationId === null || difference === 0n) return found.isOrphaned ? returnDeposit(trx, deposit, now) : undefined
  assertNotHeld(await findHoldOnDeposit(trx, vaultId, operationId))
  const correction = signedPosting('correct', { vaultId, tokenId, addressId, operationId, amount: difference })
  try {
    // The part that the chain lacks must not cover an exposure, so it is taken with the credit.
    if (found.isOrphaned) await returnDeposit(trx, deposit, now, difference < 0n ? [correction] : [])
    if (!found.isOrphaned || difference > 0n) {
      const surplus = { vaultId, id: operationId, addressId, tokenId, amount: difference }
      const held = isScreened && difference > 0n ? await holdSurplus(trx, surplus, now) : []
      await postEntries(trx, [correction, ...held], now)
    }
  } catch (error) {
    throw refusalOf(error) ?? error
  }
  await correctOperationAmount(trx, { vaultId, id: operationId, amount: found.amount, decimals: found.decimals, now })
}

function refusalOf(error: unknown): AppError | null {
  if (isBelowZero(error)) {
    return conflict('insufficient_funds', 'The address has less available than the correction takes')
  }
  // An operation has one entry of each type.
  return violates(error, 'ledger_entries_once') || sqlStateOf(error) === uniqueViolation
    ? conflict('already_exists', 'The deposit was corrected before; adjust the balance instead')
    : null
}

const uniqueViolation = '23505'

const isOrphaning = ({ reason }: QuarantinedEvent): boolean => reason === 'orphan_differs'

const occurrenceOf = (found: QuarantinedEvent): number => parseStoredEvent(found)?.occurrence ?? 0

/** Returns the deposit that an event contradicts, with the content of the event. */
function toReorganised(found: QuarantinedEvent, vaultId: string): Reorganised {
  const { addressId, tokenId, txHash } = found
  const amount = BigInt(found.credited ?? '0')
  return { vaultId, id: found.depositId ?? '', addressId, tokenId, amount, occurrence: occurrenceOf(found), txHash }
}

const unknownTransaction = 'The wallet service does not know the transaction, or does not tell'

/** Returns what the wallet service answered about an event to which it does not object. */
function findingOf(found: QuarantinedEvent, transaction: TransactionState | null): string {
  if (!isOrphaning(found)) return 'The transaction was mined, and pays what the event says'
  if (transaction === null) return unknownTransaction
  return transaction.status === 'mined' ? noSuchPayment : reportedAs(transaction)
}

const noSuchPayment = 'The transaction has no such payment to the address'
const reportedAs = ({ status }: TransactionState) => `The wallet service reports the transaction as ${status}`

/** Returns the reason why the chain does not confirm an event; null when it does. */
function objectionTo(found: QuarantinedEvent, transaction: TransactionState | null): string | null {
  if (isOrphaning(found)) return objectionToOrphan(found, transaction)
  if (found.isOrphaned && occurrenceOf(found) <= found.occurrence) return 'The deposit was orphaned after this event'
  if (transaction === null) return unknownTransaction
  if (transaction.status !== 'mined') return reportedAs(transaction)
  const payment = findPayment(found, transaction)
  if (payment === undefined) return noSuchPayment
  return payment.amount === found.amount
    ? null
    : `The transaction pays ${payment.amount}, and the event says ${found.amount}`
}

/**
 * Returns the objection to the claim that a deposit is gone, or null. The wallet service does not know the
 * transaction of an orphaned deposit, so an unknown transaction is not an objection: nothing is spent by it, and a deposit that
 * comes back is credited again.
 */
function objectionToOrphan(found: QuarantinedEvent, transaction: TransactionState | null): string | null {
  if (found.isOrphaned || occurrenceOf(found) < found.occurrence) return 'The deposit was orphaned, or came back, since'
  return transaction?.status === 'mined' && findPayment(found, transaction) !== undefined
    ? 'The chain has the payment'
    : null
}

const findPayment = (found: QuarantinedEvent, { payments }: TransactionState) =>
  payments.find(
    ({ index, toAddress, contractAddress }) =>
      index === found.index &&
      isSameAddress(toAddress, found.address) &&
      isSameAddress(contractAddress ?? '', found.contract ?? ''),
  )

async function askChain(
  deps: Deps,
  vaultId: string,
  { network, txHash: hash }: QuarantinedEvent,
): Promise<TransactionState | null> {
  const wallet = await walletOfVault(deps, vaultId)
  return wallet.getTransaction({ network, hash }).catch(throwBadGateway)
}

function assertQuarantined({ outcome }: QuarantinedEvent): void {
  if (outcome !== 'quarantined') throw conflict('wrong_state', `The event is ${outcome}, not quarantined`)
}

/** Returns the payload. The route made it, and its hash ensures that it is unchanged. */
function payloadOf(step: Step): EventPayload {
  return step.payload as EventPayload
}
