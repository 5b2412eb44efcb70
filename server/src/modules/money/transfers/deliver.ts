import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { walletCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import { setOperationTxHash } from '../../operations/feed/write.ts'
import { notifyOfStop } from '../../record/notifications/write.ts'
import { type WalletClient, WalletServiceError, walletOfVault } from '../../registry/wallet-service/client.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { feePosting } from '../ledger/postings.ts'
import { move } from './actions.ts'
import { haltTransfer, haltUnlessAsRecorded, noteHaltReason } from './halt.ts'
import { judgeStatus, type WalletStatus } from './judge-status.ts'
import type { Payload } from './payload.ts'
import { type LockedTransfer, lockTransfer } from './queries.ts'
import { findObjection, type Objection } from './recheck.ts'

const claimedMax = 20
const feesMax = 100
/** How long a claim is ours; should this process die, another one goes on after it. */
const leaseMilliseconds = 60_000
const pollMilliseconds = 1_000
const retryMillisecondsMax = 60_000

/** A transfer that is this node's until `leaseEndsAt`, in the phase it had when it was claimed. */
type Claim = { vaultId: string; id: string; phase: string; leaseEndsAt: Date }
type Connect = (deps: Deps, vaultId: string) => Promise<WalletClient>

/** Claimed transfers of a vault are under way until its wallet service has answered, or was not reached. */
export type Delivery = {
  /** Claims what is due and starts its delivery, without waiting for the end. Returns how many were claimed. */
  round(): Promise<number>
  underWay: ReadonlyMap<string, Promise<void>>
}

/**
 * Takes the transfers that are due, tells the wallet service of new ones and asks about the others. Safe on any number
 * of nodes: each transfer is claimed by one, and what a dead node left behind is asked about before it is sent again.
 * While transfers of a vault are under way, a round leaves the vault out: one with a slow wallet service holds up no other.
 *
 * @param connect opens the wallet service of a vault
 */
export function createDelivery(deps: Deps, connect: Connect = walletOfVault): Delivery {
  const underWay = new Map<string, Promise<void>>()
  return {
    underWay,
    async round() {
      const claims = await claimDueTransfers(deps, [...underWay.keys()])
      for (const vaultId of new Set(claims.map((claim) => claim.vaultId))) {
        const ofVault = claims.filter((claim) => claim.vaultId === vaultId)
        const delivery = Promise.allSettled(ofVault.map((claim) => advance(deps, connect, claim)))
        underWay.set(
          vaultId,
          delivery.then(() => void underWay.delete(vaultId)),
        )
      }
      return claims.length
    },
  }
}

/** One round of a delivery, and its end. Returns how many transfers were claimed. */
export async function deliverDueTransfers(deps: Deps, connect?: Connect): Promise<number> {
  const { round, underWay } = createDelivery(deps, connect)
  const claimed = await round()
  await Promise.all(underWay.values())
  return claimed
}

async function claimDueTransfers(deps: Deps, exceptVaultIds: string[]): Promise<Claim[]> {
  const now = deps.clock()
  const leaseEndsAt = new Date(now.getTime() + leaseMilliseconds)
  const { rows } = await sql<Omit<Claim, 'leaseEndsAt'>>`
    with due as (
      select vault_id, id from transfers
      where phase in ('queued', 'submitting', 'submitted', 'broadcast') and next_attempt_at <= ${now}
        and vault_id <> all (${exceptVaultIds})
      order by next_attempt_at limit ${claimedMax} for update skip locked
    )
    update transfers t set next_attempt_at = ${leaseEndsAt}
    from due where t.vault_id = due.vault_id and t.id = due.id
    returning t.vault_id as "vaultId", t.id, t.phase`.execute(deps.db)
  return rows.map((claim) => ({ ...claim, leaseEndsAt }))
}

async function advance(deps: Deps, connect: Connect, claim: Claim): Promise<void> {
  try {
    const isTaken = claim.phase === 'submitted' || claim.phase === 'broadcast'
    await (isTaken ? settle(deps, await connect(deps, claim.vaultId), claim) : handOver(deps, connect, claim))
  } catch (error) {
    // The outcome is unknown, never a failure: the funds stay reserved and the wallet service is asked again.
    deps.log.warn({ err: error, transferId: claim.id }, 'transfer not delivered yet')
    await retryLater(deps, claim, isSurelyUnsent(claim, error))
  }
}

/** It was never tried before, and this time no connection came about: nobody can have heard of it. */
function isSurelyUnsent(claim: Claim, error: unknown): boolean {
  return claim.phase === 'queued' && error instanceof WalletServiceError && error.kind === 'unreachable'
}

/** Tells the wallet service; after an interruption it is asked first, so that it never hears of two transfers. */
async function handOver(deps: Deps, connect: Connect, claim: Claim): Promise<void> {
  const begun = await inTransaction(deps.db, (trx) => begin(trx, deps, claim))
  if (begun === null) return
  const wallet = await connect(deps, claim.vaultId)
  const known = claim.phase === 'submitting' ? await wallet.getTransfer(claim.id) : null
  if (known === null && begun.objection !== null) return holdBack(deps, claim, begun.objection)
  if (known === null) assertMaySend(deps, claim)
  const said = known ?? (await submit(deps, wallet, claim, begun.payload))
  if (said !== null) await apply(deps, claim, said)
}

type Begun = { payload: Payload; objection: Objection | null }

/**
 * Decides, in the transaction that makes it count as sent, whether a transfer may be sent at all. Returns the order as it
 * was recorded; null when nothing is to be done (any more, or now). What may have been sent already is never failed: an
 * objection then only keeps it from being sent again.
 */
async function begin(trx: Trx, deps: Deps, claim: Claim): Promise<Begun | null> {
  const transfer = await lockClaimed(trx, claim)
  if (transfer === null) return null
  const found = await haltUnlessAsRecorded(trx, deps, claim)
  if ('haltReason' in found) return null
  const { order } = found
  const now = deps.clock()
  const objection = await findObjection(trx, transfer, order, { isSumKept: true, now })
  if (claim.phase === 'submitting') return { payload: order.payload, objection }
  if (!transfer.token_enabled) {
    // Nothing was sent yet: until the token is enabled again it waits, and may be cancelled.
    await requeue(trx, claim, new Date(now.getTime() + retryMillisecondsMax))
    return null
  }
  if (objection !== null) {
    await refuse(trx, claim, transfer, objection, now)
    return null
  }
  await trx
    .updateTable('transfers')
    .set({ phase: 'submitting' })
    .where('vault_id', '=', claim.vaultId)
    .where('id', '=', claim.id)
    .execute()
  return { payload: order.payload, objection: null }
}

/** Ends a transfer that was decided and may no longer go out; its initiator and the administrators are told. */
async function refuse(
  trx: Trx,
  { vaultId, id }: Claim,
  transfer: LockedTransfer,
  { message, details }: Objection,
  now: Date,
): Promise<void> {
  const failureReason = `NO_LONGER_ALLOWED: ${details === undefined ? message : `${message}: ${details}`}`
  await move(trx, { vaultId, id, transfer, event: 'failed', actorId: null, now, failureReason })
  await notifyOfStop(trx, { vaultId, subjectType: 'transfer', subjectId: id }, now, transfer.initiator_id)
}

/** Keeps back, with its funds, what the wallet service does not know and may still hear of from an earlier attempt. */
async function holdBack(deps: Deps, claim: Claim, { message }: Objection): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    if ((await lockClaimed(trx, claim)) === null) return
    await noteHaltReason(trx, deps, claim, `Not sent again: ${message}`)
    await schedule(trx, claim, new Date(deps.clock().getTime() + retryMillisecondsMax))
  })
}

/** Locks a transfer; null when it went on without this node, which was paused, say. */
async function lockClaimed(trx: Trx, { vaultId, id, phase, leaseEndsAt }: Claim): Promise<LockedTransfer | null> {
  const transfer = await lockTransfer(trx, vaultId, id)
  const isOurs = transfer?.phase === phase && transfer.next_attempt_at?.getTime() === leaseEndsAt.getTime()
  return isOurs ? transfer : null
}

/**
 * A node that was paused may no longer send: another one has taken over, and may have given the funds back since
 * (threat 24).
 */
function assertMaySend(deps: Deps, { leaseEndsAt }: Claim): void {
  const remainingMilliseconds = leaseEndsAt.getTime() - deps.clock().getTime()
  if (remainingMilliseconds < walletCallTimeoutMilliseconds) throw new Error('The claim on the transfer is nearly over')
}

async function submit(deps: Deps, wallet: WalletClient, claim: Claim, order: Payload): Promise<WalletStatus | null> {
  try {
    return await wallet.submitTransfer({
      id: claim.id,
      network: order.network,
      coinType: order.coinType,
      derivationPath: order.derivationPath,
      fromAddress: order.fromAddress,
      toAddress: order.toAddress,
      contractAddress: order.contractAddress,
      amount: order.amount,
    })
  } catch (error) {
    if (!(error instanceof WalletServiceError)) throw error
    if (error.kind === 'conflict') {
      await inTransaction(deps.db, (trx) =>
        haltTransfer(trx, deps, claim, 'The wallet service knows this transfer with another order'),
      )
      return null
    }
    // A refusal is final only when the wallet service also says that it never took the transfer.
    if (error.kind !== 'refused' || (await wallet.getTransfer(claim.id)) !== null) throw error
    await inTransaction(deps.db, async (trx) => {
      const transfer = await lockTransfer(trx, claim.vaultId, claim.id)
      if (transfer === null || transfer.status !== 'pending') return
      await move(trx, {
        vaultId: claim.vaultId,
        id: claim.id,
        transfer,
        event: 'failed',
        actorId: null,
        now: deps.clock(),
        failureReason: `WALLET_REFUSED: ${error.message}`,
      })
    })
    return null
  }
}

/** Asks what became of a transfer that the wallet service has taken. */
async function settle(deps: Deps, wallet: WalletClient, claim: Claim): Promise<void> {
  const said = await wallet.getTransfer(claim.id)
  if (said !== null) return apply(deps, claim, said)
  // It confirmed to have it: sending it again could pay twice, so people are told and it is asked again, slowly.
  await inTransaction(deps.db, async (trx) => {
    await noteHaltReason(trx, deps, claim, 'The wallet service no longer knows this transfer')
    await schedule(trx, claim, new Date(deps.clock().getTime() + retryMillisecondsMax))
  })
}

async function apply(deps: Deps, claim: Claim, said: WalletStatus): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const transfer = await lockTransfer(trx, claim.vaultId, claim.id)
    if (transfer === null || transfer.status !== 'pending' || transfer.phase === 'halted') return
    const now = deps.clock()
    const judgement = judgeStatus(transfer.current, transfer.wallet_tx_hash, said)
    if (judgement.kind === 'halt') return haltTransfer(trx, deps, claim, judgement.reason)
    if (judgement.txHash !== null && (await isHashOfAnother(trx, transfer, claim, judgement.txHash))) {
      return haltTransfer(trx, deps, claim, 'The wallet service reports the transaction hash of another transfer')
    }
    if (judgement.kind === 'wait') {
      await trx
        .updateTable('transfers')
        .set({
          phase: judgement.txHash === null ? 'submitted' : 'broadcast',
          wallet_tx_hash: judgement.txHash ?? transfer.wallet_tx_hash,
          halt_reason: null,
          attempts: 0,
          next_attempt_at: new Date(now.getTime() + pollMilliseconds),
        })
        .where('vault_id', '=', claim.vaultId)
        .where('id', '=', claim.id)
        .execute()
      if (judgement.txHash !== null && transfer.wallet_tx_hash === null) {
        await setOperationTxHash(trx, claim.vaultId, claim.id, judgement.txHash)
      }
      return
    }
    if ('haltReason' in (await haltUnlessAsRecorded(trx, deps, claim))) return
    await resolve(trx, claim, transfer, judgement, now)
  })
}

type Resolution = Extract<ReturnType<typeof judgeStatus>, { kind: 'confirm' | 'fail' }>

/** Confirms or fails the transfer and posts the fee that its address paid, in one moment of the books. */
async function resolve(
  trx: Trx,
  claim: Claim,
  transfer: LockedTransfer,
  judgement: Resolution,
  now: Date,
): Promise<void> {
  const { vaultId, id } = claim
  const coin = await lockAccounts(trx, transfer, vaultId)
  const fee = judgement.fee !== null && judgement.fee > 0n ? judgement.fee : null
  // The books never go below zero: a fee that they cannot cover yet is posted as soon as they can.
  const returned = judgement.kind === 'fail' && coin?.tokenId === transfer.token_id ? transfer.amount : 0n
  const isAffordable = fee !== null && coin !== null && coin.available + returned >= fee
  const isPosted = fee === null || coin === null || isAffordable
  await trx
    .updateTable('transfers')
    .set({
      fee: judgement.fee?.toString() ?? null,
      fee_token_id: coin?.tokenId ?? null,
      fee_posted: isPosted,
      wallet_tx_hash: judgement.txHash,
      halt_reason: null,
    })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
  await move(trx, {
    vaultId,
    id,
    transfer,
    event: judgement.kind === 'confirm' ? 'confirmed' : 'failed',
    actorId: null,
    now,
    txHash: judgement.txHash,
    ...(judgement.kind === 'confirm' ? { blockchainAt: judgement.blockTime } : { failureReason: judgement.reason }),
    extraPostings: isAffordable
      ? [feePosting({ vaultId, tokenId: coin.tokenId, addressId: transfer.address_id, operationId: id, amount: fee })]
      : [],
  })
}

/** Posts the fees that the books could not cover when their transfer ended, as far as they can now. */
export async function postOutstandingFees(deps: Deps): Promise<void> {
  // Only those that can be posted are taken, so that the others never fill the batch.
  const { rows } = await sql<{ vault_id: string; id: string }>`
    select t.vault_id, t.id from transfers t
    join operations o on o.vault_id = t.vault_id and o.id = t.id
    join ledger_accounts l on l.vault_id = t.vault_id and l.address_id = o.address_id and l.token_id = t.fee_token_id
      and l.purpose = 'available' and l.balance >= t.fee
    where t.fee is not null and not t.fee_posted order by t.id limit ${feesMax}`.execute(deps.db)
  for (const { vault_id: vaultId, id } of rows) {
    try {
      await postFee(deps, vaultId, id)
    } catch (error) {
      deps.log.error({ err: error, vaultId, transferId: id }, 'fee not posted')
    }
  }
}

async function postFee(deps: Deps, vaultId: string, id: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    const row = await trx
      .selectFrom('transfers')
      .select(['fee', 'fee_posted'])
      .where('vault_id', '=', vaultId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (transfer === null || row.fee === null || row.fee_posted) return
    const coin = await lockAccounts(trx, transfer, vaultId)
    const fee = BigInt(row.fee)
    if (coin === null || coin.available < fee) return
    const subject = { vaultId, tokenId: coin.tokenId, addressId: transfer.address_id, operationId: id, amount: fee }
    await postEntries(trx, [feePosting(subject)], deps.clock())
    await trx
      .updateTable('transfers')
      .set({ fee_posted: true })
      .where('vault_id', '=', vaultId)
      .where('id', '=', id)
      .execute()
  })
}

/**
 * Locks the accounts that a resolution touches, in the order in which every posting locks them, so that a reservation
 * at the same moment waits instead of deadlocking. Returns the native coin's account; null when it is not registered.
 */
async function lockAccounts(
  trx: Trx,
  transfer: LockedTransfer,
  vaultId: string,
): Promise<{ tokenId: string; available: bigint } | null> {
  const coin = await trx
    .selectFrom('tokens')
    .select('id')
    .where('network_id', '=', transfer.network_id)
    .where('contract_key', '=', '')
    .executeTakeFirst()
  const accounts = await trx
    .selectFrom('ledger_accounts')
    .select(['token_id', 'purpose', 'balance'])
    .where('vault_id', '=', vaultId)
    .where('address_id', '=', transfer.address_id)
    .where('token_id', 'in', coin === undefined ? [transfer.token_id] : [transfer.token_id, coin.id])
    .orderBy('token_id')
    .orderBy('purpose')
    .forUpdate()
    .execute()
  if (coin === undefined) return null
  const available = accounts.find((account) => account.token_id === coin.id && account.purpose === 'available')
  return { tokenId: coin.id, available: BigInt(available?.balance ?? '0') }
}

/** On EVM networks one transfer is one transaction; elsewhere a wallet may pay several in one. */
async function isHashOfAnother(trx: Trx, transfer: LockedTransfer, claim: Claim, txHash: string): Promise<boolean> {
  if (transfer.network_type !== 'evm') return false
  // Two transfers that are told the same hash at the same moment do not see each other; this makes one of them wait.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${claim.vaultId} ${txHash}`}, 2))`.execute(trx)
  const other = await trx
    .selectFrom('operations')
    .select('id')
    .where('vault_id', '=', claim.vaultId)
    .where('tx_hash', '=', txHash)
    .where('type', '=', 'transfer')
    .where('id', '<>', claim.id)
    .executeTakeFirst()
  return other !== undefined
}

/** With `isUnsent` the transfer goes back to the queue, where its initiator may still cancel it. */
async function retryLater(deps: Deps, claim: Claim, isUnsent: boolean): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const transfer = await lockTransfer(trx, claim.vaultId, claim.id)
    if (transfer === null || transfer.status !== 'pending' || transfer.phase === 'halted') return
    const delay = Math.min(pollMilliseconds * 2 ** Math.min(transfer.attempts, 10), retryMillisecondsMax)
    await trx
      .updateTable('transfers')
      .set({ attempts: Math.min(transfer.attempts + 1, 1_000) })
      .where('vault_id', '=', claim.vaultId)
      .where('id', '=', claim.id)
      .execute()
    const at = new Date(deps.clock().getTime() + delay)
    await (isUnsent ? requeue(trx, claim, at) : schedule(trx, claim, at))
  })
}

async function requeue(trx: Trx, claim: Claim, at: Date): Promise<void> {
  await trx
    .updateTable('transfers')
    .set({ phase: 'queued', next_attempt_at: at })
    .where('vault_id', '=', claim.vaultId)
    .where('id', '=', claim.id)
    .execute()
}

async function schedule(trx: Trx, claim: Claim, at: Date): Promise<void> {
  await trx
    .updateTable('transfers')
    .set({ next_attempt_at: at })
    .where('vault_id', '=', claim.vaultId)
    .where('id', '=', claim.id)
    .execute()
}
