import { sql } from 'kysely'
import { retryAt } from '../../../db/claim.ts'
import type { Trx } from '../../../db/client.ts'
import { runParts } from '../../../db/insert-rows.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { Objection } from '../../../lib/errors.ts'
import {
  handOversPerVaultMax,
  handOversPreparedMax,
  deliveriesInProgressMax as inProgressMax,
  deliveriesOfQueueMax as ofQueueMax,
  questionsPerVaultMax,
} from '../../../lib/limits.ts'
import type { KeptSignedVote } from '../../../lib/signed-vote.ts'
import { createTurnsOfKeys } from '../../../lib/turns.ts'
import { notifyOfStop } from '../../record/notifications/notification-rows.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { Authorization, WalletClient } from '../../registry/wallet-service/client.ts'
import { gatherAll, stopUnlessSame } from '../../rules/votes/ballot.ts'
import { askAuthority } from '../../vaults/authority/authority.ts'
import { fallenSentence } from '../../vaults/authority/authority-mark.ts'
import { assertCompared, haltObjection } from '../../vaults/wallets/compare-accepted.ts'
import { keepWallet, walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { type Clearance, clearTransfer } from '../holds/screened.ts'
import type { Gathered } from '../orders/objections.ts'
import { isSignedOrder, type Payload } from '../orders/payload.ts'
import { findObjections } from '../orders/recheck.ts'
import { readSignatures, type Signatures } from '../orders/signatures.ts'
import type { RecordedOrder } from '../transfers/compare-order.ts'
import {
  movePhase,
  moveTransfer,
  type PhaseMove,
  phasesMoved,
  postponeWithAlert,
  recordedTransfers,
} from '../transfers/move.ts'
import type { LockedTransfer } from '../transfers/queries.ts'
import * as claims from './claim.ts'
import type { WalletStatus } from './evaluate-status.ts'
import { countFound } from './following.ts'
import { handOverReplacement } from './hand-over-replacement.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { applyReportsAlone, applyStatus, noteForgotten } from './settle.ts'
import { submit } from './submit.ts'
import { together } from './together.ts'

type Claim = claims.Claim
type Connect = (deps: Deps, vaultId: string) => Promise<WalletClient>

/** The delivery of claimed transfers. A transfer is in progress until its wallet service has answered or could not be reached. */
export type Delivery = {
  /**
   * Claims the due transfers and starts their delivery without waiting for the end.
   *
   * @returns the number of claimed transfers, and the next time with work, as far as it is known
   */
  round(): Promise<{ claimed: number; nextAt: Date | null }>
  /** The transfers in progress, by vault. */
  underWay(): string[]
  /** Waits for the transfers in progress. */
  finish(): Promise<void>
}

/**
 * Claims the transfers that are due, sends new ones to the wallet service and queries the status of the others. Safe on any
 * number of nodes: each transfer is claimed by one node, and after a crash its status is queried before it is sent again. Each
 * vault has a lane for hand-overs and a lane for questions, so that a slow wallet service delays no other vault, and questions
 * delay no hand-over.
 *
 * @param connect opens the wallet service of a vault
 * @param again called at the end of a delivery, with the milliseconds after which there may be work again
 */
export function createDelivery(
  deps: Deps,
  connect: Connect = walletOfVault,
  again = (_milliseconds: number) => {},
): Delivery {
  const running = new Set<Promise<void>>()
  const handOvers = createLanes(handOversPerVaultMax + handOversPreparedMax)
  const questions = createLanes(questionsPerVaultMax)
  const parts = { deps, connect, ...partsOf(deps, connect) }

  async function claim(queue: claims.DeliveryQueue, lanes: Lanes): Promise<number> {
    const places = lanes.places(deps.clock())
    const free = Math.min(inProgressMax - running.size, ofQueueMax - lanes.inProgress())
    const claimedMax = Math.max(0, free)
    const claimed = await claims.claimDue(deps, queue, { laneMax: lanes.max, places, claimedMax })
    const leaves = lanes.enter(claimed, places, claimed.length === claimedMax)
    for (const [i, due] of claimed.entries()) {
      const end = advance(parts, due)
        // The transfer could not be put back, for example without a database: it is due again when the claim ends.
        .catch((error: unknown) => deps.log.warn({ err: error, transferId: due.id }, 'transfer not put back'))
        .finally(() => {
          running.delete(end)
          again(leaves[i]!() ? 0 : claims.pollMilliseconds)
        })
      running.add(end)
    }
    return claimed.length
  }

  return {
    underWay: () => [...new Set([...handOvers.busy(), ...questions.busy()])],
    async finish() {
      await Promise.all(running)
    },
    async round() {
      const claimed = (await claim('hand-over', handOvers)) + (await claim('follow', questions))
      const refilledAt = questions.refilledAt(deps.clock())
      // The end of a claimed delivery calls `again` itself.
      const nextAt = refilledAt ?? (claimed > 0 ? null : await claims.findNextDue(deps))
      return { claimed, nextAt }
    },
  }
}

/** Runs one round of deliveries to its end. Returns the number of claimed transfers. */
export async function deliverDueTransfers(deps: Deps, connect?: Connect): Promise<number> {
  const { round, finish } = createDelivery(deps, connect)
  const { claimed } = await round()
  await finish()
  return claimed
}

type Parts = { deps: Deps; connect: Connect } & ReturnType<typeof partsOf>
type Answer = { claim: Claim; status: WalletStatus }

/** The steps that concurrent deliveries of one vault share, and the limit of hand-overs at its wallet service. */
const partsOf = (deps: Deps, connect: Connect) => ({
  begun: together(deps, (vaultId, claimed: Claim[]) =>
    inTransaction(deps.db, async (trx) => {
      const begun = await begin(trx, deps, vaultId, claimed)
      return claimed.map((claim) => begun.get(claim) ?? null)
    }),
  ),
  opened: together(deps, async (vaultId, claimed: Claim[]) => {
    const wallet = await connect(deps, vaultId)
    return claimed.map(() => wallet)
  }),
  atWallet: createTurnsOfKeys(handOversPerVaultMax),
  answered: answeredTogether(deps),
  followed: answeredTogether(deps),
  known: together(deps, async (vaultId, claimed: Claim[]) => {
    const ids = claimed.map(({ id }) => id)
    const statuses = ids.length === 1 ? null : await (await connect(deps, vaultId)).listTransfers(ids)
    return ids.map((id) => statuses?.get(id) ?? null)
  }),
})

/** Applies answers of a wallet service together. Returns true for each answer that was news. */
const answeredTogether = (deps: Deps) =>
  together(deps, async (vaultId, answers: Answer[]) => {
    const { news } = await applyReportsAlone(deps, {
      vaultId,
      reports: new Map(answers.map(({ claim, status }) => [claim.id, status])),
      isFollowed: answers.every(({ claim }) => claim.isFollowed),
      isAsked: true,
    })
    return answers.map(({ claim }) => news.includes(claim.id))
  })

async function advance(parts: Parts, claim: Claim): Promise<void> {
  const { deps } = parts
  try {
    const isTaken = claim.phase === 'submitted' || claim.phase === 'broadcast'
    await (isTaken ? follow(parts, claim) : handOver(parts, claim))
  } catch (error) {
    // The outcome is unknown, which is not a failure: the funds stay reserved and the status is queried again.
    deps.log.warn({ err: error, transferId: claim.id }, 'transfer not delivered yet')
    await retryLater(deps, claim, isSurelyUnsent(claim, error))
  }
}

/** Hands over a replacement if one was decided; otherwise queries the status of the transfer, and posts the result. */
async function follow({ deps, opened, known, followed }: Parts, claim: Claim): Promise<void> {
  const { vaultId, id, isFollowed } = claim
  const wallet = await opened(vaultId, claim)
  const replaced = claim.isReplacementDue ? await handOverReplacement(deps, wallet, claim) : null
  if (replaced === 'answered' || replaced === 'raised again') return
  // A replacement without an answer is requested again with the next question, so the question comes soon.
  const isSeldomAsked = isFollowed && replaced !== 'unknown'
  // Questions about transfers of a followed wallet service begin together, and are one request where the wallet service offers it.
  const status = (isSeldomAsked ? await known(vaultId, claim) : null) ?? (await wallet.getTransfer(id))
  if (status === null) return await noteForgotten(deps, claim)
  // Where changes are followed, an answer seldom has news and changes one small row: such answers are applied together.
  if (!isSeldomAsked) await applyStatus(deps, { vaultId, id }, status)
  else if (await followed(vaultId, { claim, status })) await countFound(deps.db, vaultId)
}

/** Returns true if the wallet service cannot have received the transfer: this is the first attempt, and no connection was made. */
function isSurelyUnsent(claim: Claim, error: unknown): boolean {
  if (claim.phase !== 'queued') return false
  return error instanceof NotSentError || (error instanceof WalletServiceError && error.kind === 'unreachable')
}

/** Thrown before the transfer is sent, when a fact that the hand-over needs is not known. */
class NotSentError extends Error {}

/**
 * Prepares a transfer, sends it when its wallet service has a place, and applies the answer. The next transfers are prepared
 * while earlier ones are sent.
 */
async function handOver(parts: Parts, claim: Claim): Promise<void> {
  const begun = await parts.begun(claim.vaultId, claim)
  if (begun === null) return
  const status = await parts.atWallet(claim.vaultId, () => send(parts, claim, begun))
  if (status !== null) await parts.answered(claim.vaultId, { claim, status })
}

/** Sends a transfer; after an interruption its status is queried first, so that the wallet service never gets two transfers. */
async function send({ deps, connect, opened }: Parts, claim: Claim, begun: Begun): Promise<WalletStatus | null> {
  const wallet = await opened(claim.vaultId, claim).catch((cause: unknown) => {
    throw new NotSentError('The wallet service of the vault cannot be opened', { cause })
  })
  const known = claim.phase === 'submitting' ? await wallet.getTransfer(claim.id) : null
  if (known !== null) return known
  if (!begun.isClear) await waitForScreening(deps, claim)
  else if (begun.objection !== null) await postponeObjected(deps, claim, begun.objection)
  if (!begun.isClear || begun.objection !== null) return null
  await assertMayOrder(deps, connect, claim)
  const authorization = await authorize(deps, wallet, { vaultId: claim.vaultId, ...begun })
  claims.assertMaySend(deps, claim)
  return await submit(deps, wallet, claim, { order: begun.payload, authorization })
}

/** @throws NotSentError while the books and the wallet service differ, and when they cannot be compared */
function assertMayOrder(deps: Deps, connect: Connect, { vaultId }: Claim): Promise<void> {
  return assertCompared(deps, vaultId, () => connect(deps, vaultId)).catch((cause: unknown) => {
    throw new NotSentError('The list of accepted entries of the wallet service was not compared with the books', {
      cause,
    })
  })
}

const unscreened: Clearance = { isClear: true, score: null }

/** `isClear` is true if the screening permits the hand-over, or if there is no screening. */
type Begun = { payload: Payload; objection: Objection | null; isClear: boolean; signed: Signatures }

/** Returns the signatures of people for the present authority of the wallet service; null for an order that is not signed. */
async function authorize(
  deps: Deps,
  wallet: WalletClient,
  { vaultId, payload, signed: { votes, place } }: Begun & { vaultId: string },
): Promise<Authorization | null> {
  if (!isSignedOrder(payload)) return null
  const { found, isPresent } = await askAuthority(deps, wallet, vaultId).catch((cause: unknown) => {
    throw new NotSentError('The authority of the wallet service is not known', { cause })
  })
  if (!isPresent) throw new NotSentError(fallenSentence)
  if (found === null) throw new NotSentError('The wallet service has no authority')
  const { version: authorityVersion, authority } = found
  const isKnown = ({ keyId, vote }: KeptSignedVote) =>
    authority.keys.some(({ id, person }) => id === keyId && person === vote.person)
  // A vote by a key that is unknown to the wallet service would make it refuse the order. Without that vote, the other votes
  // decide.
  const counted = votes.filter(({ signed }) => signed.vote.decision === 'initiate' || isKnown(signed))
  const batch = place === null ? {} : { batch: place }
  return { order: payload, authorityVersion, votes: counted.map(({ signed }) => signed), ...batch }
}

/** Returns the state of the signature that the vault requires of an order. */
function signatureOf({ expiresAt }: Payload, protection: string, now: Date): Gathered['signature'] {
  if (expiresAt === undefined) return protection === 'off' ? 'valid' : 'missing'
  return new Date(expiresAt) > now ? 'valid' : 'expired'
}

/**
 * Decides which of the claimed transfers of a vault may be sent, and marks these as sent in the same transaction. Returns their orders
 * as they were recorded. A transfer that waits, was refused or was halted is left out, unless it may have been sent before.
 */
async function begin(trx: Trx, deps: Deps, vaultId: string, claimed: Claim[]): Promise<Map<Claim, Begun>> {
  // This lock comes first: a change of the wallet service sees that these transfers are in flight, or this hand-over sees the
  // new wallet service.
  const vault = await keepWallet(trx, vaultId)
  const locked = await claims.lockAllClaimed(trx, vaultId, claimed)
  const [first, ...others] = locked.map(({ transfer }) => transfer)
  const begun = new Map<Claim, Begun>()
  if (first === undefined) return begun
  const now = deps.clock()
  const subject = recordedTransfers(deps.log)
  const { gathered } = await gatherAll(trx, subject, [first, ...others], sql`null`)
  const moves: PhaseMove[] = []
  for (const { claim, transfer } of locked) {
    const compared = await stopUnlessSame(trx, subject, transfer, gathered.get(transfer.id)!, now)
    if ('refusal' in compared) continue
    const { recorded } = compared
    const { move, ...decided } = await decide(trx, deps, { claim, transfer, recorded, vault, now })
    if (move !== undefined) moves.push({ transfer, ...move })
    if (decided.begun !== null) begun.set(claim, decided.begun)
  }
  await runParts(trx, phasesMoved(trx, moves))
  return begun
}

type Kept = Awaited<ReturnType<typeof keepWallet>>
type Deciding = { claim: Claim; transfer: LockedTransfer; recorded: RecordedOrder; vault: Kept; now: Date }

/**
 * Decides on a claimed transfer that is as it was recorded, and reads what its hand-over needs. A transfer that may have been sent
 * already is never failed: an objection then only prevents another attempt.
 */
async function decide(
  trx: Trx,
  { config }: Deps,
  { claim, transfer, recorded, vault, now }: Deciding,
): Promise<{ begun: Begun | null; move?: Omit<PhaseMove, 'transfer'> }> {
  const { payload } = recorded
  const { isClear, score } =
    config.screening === null ? unscreened : await clearTransfer(trx, claim.vaultId, claim.id, now)
  const signature = signatureOf(payload, vault.protection, now)
  const ofOrder = await findObjections(trx, transfer, recorded, {
    signature,
    isSumKept: true,
    riskScore: score,
    now,
  })
  const objections = vault.halt_reason === null ? ofOrder : [haltObjection(vault.halt_reason), ...ofOrder]
  const [objection = null] = objections
  const signed = await readSignatures(trx, transfer, payload)
  if (claim.phase === 'submitting') return { begun: { payload, objection, isClear, signed } }
  if (objections.some(({ waits }) => waits) || !isClear) {
    // Nothing was sent yet: the transfer waits until the token is enabled, the hold is released, or the screening allows it.
    const changes = { next_attempt_at: claims.after(now, claims.retryMillisecondsMax) }
    return { begun: null, move: { to: 'queued', changes } }
  }
  if (objection !== null) {
    await refuse(trx, transfer, objection, now)
    return { begun: null }
  }
  const begun = { payload, objection: null, isClear, signed }
  return { begun, move: { to: 'submitting', changes: { sent_at: now } } }
}

/** Postpones another attempt at a transfer that may have been sent until the screening has answered. */
function waitForScreening(deps: Deps, claim: Claim): Promise<void> {
  return claims.workOnClaimed(deps, claim, (trx, transfer, now) =>
    movePhase(trx, transfer, transfer.phase, {
      next_attempt_at: claims.after(now, claims.screeningPollMilliseconds),
    }),
  )
}

/** Ends a decided transfer that may no longer be sent, and notifies its initiator and the administrators. */
async function refuse(trx: Trx, transfer: LockedTransfer, { message, details }: Objection, now: Date): Promise<void> {
  const { vault_id: vaultId, id: subjectId, initiator_id } = transfer
  const failureReason = `NO_LONGER_ALLOWED: ${details === undefined ? message : `${message}: ${details}`}`
  await moveTransfer(trx, transfer, { event: 'failed', actorId: null, now, failureReason })
  await notifyOfStop(trx, { vaultId, subjectType: 'transfer', subjectId }, now, initiator_id)
}

/** Postpones another attempt at a transfer that may not be sent now; the wallet service may still receive an earlier one. */
function postponeObjected(deps: Deps, claim: Claim, { message }: Objection): Promise<void> {
  return claims.workOnClaimed(deps, claim, (trx, transfer, now) => {
    const nextAttemptAt = claims.after(now, claims.retryMillisecondsMax)
    return postponeWithAlert(trx, deps.log, transfer, `Not sent again: ${message}`, { now, nextAttemptAt })
  })
}

/** Retries the hand-over later. With `isUnsent` the transfer returns to the queue, where its initiator may still cancel it. */
function retryLater(deps: Deps, claim: Claim, isUnsent: boolean): Promise<void> {
  return claims.workWhileClaimed(deps, claim, (trx, transfer, now) => {
    const attempts = Math.min(transfer.attempts + 1, 1_000)
    const next_attempt_at = retryAt(now, attempts, claims.backoff)
    if (!isUnsent) return movePhase(trx, transfer, transfer.phase, { attempts, next_attempt_at })
    return movePhase(trx, transfer, 'queued', { attempts, next_attempt_at, sent_at: null })
  })
}
