import { sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import type { Deps } from '../../../deps.ts'
import { txHashesMax } from '../../../lib/limits.ts'
import { operationHashSet } from '../../operations/feed/operation-rows.ts'
import { toAuditRow } from '../../record/audit/record.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { gather, stopUnlessSame } from '../../rules/votes/ballot.ts'
import { posting } from '../ledger/postings.ts'
import type { FeeLimit } from '../transfers/compare-order.ts'
import {
  type DeliveryChanges,
  haltTransfer,
  type Movement,
  moveTransfer,
  phaseMoved,
  postponeWithAlert,
  recordedTransfers,
} from '../transfers/move.ts'
import type { LockedTransfer } from '../transfers/queries.ts'
import { after, askAgainAt, type Claim, lockClaimed, lockUnderWay, retryMillisecondsMax, underLock } from './claim.ts'
import { evaluateStatus, type StatusVerdict, type WalletStatus } from './evaluate-status.ts'
import { coinOf, type LockedCoin, lockedAccounts, raiseFeeAlarm } from './fees.ts'

/** Queries the status of a transfer that the wallet service has accepted, and posts the result. */
export async function pollStatus(deps: Deps, wallet: WalletClient, claim: Claim): Promise<void> {
  const status = await wallet.getTransfer(claim.id)
  if (status !== null) return applyStatus(deps, claim, status)
  // The service had accepted it: sending it again could pay twice, so people are notified and the status is queried more slowly.
  await underLock(
    deps,
    (trx) => lockClaimed(trx, claim),
    (trx, transfer, now) => {
      const nextAttemptAt = after(now, retryMillisecondsMax)
      const reason = 'The wallet service no longer knows this transfer'
      return postponeWithAlert(trx, deps.log, transfer, reason, { now, nextAttemptAt })
    },
  )
}

/** Applies what the wallet service reports about a transfer; a contradiction halts it. */
export function applyStatus(deps: Deps, claim: Pick<Claim, 'vaultId' | 'id'>, status: WalletStatus): Promise<void> {
  const { log } = deps
  return underLock(
    deps,
    (trx) => lockUnderWay(trx, claim),
    async (trx, transfer, now) => {
      const verdict = evaluateStatus(transfer.current, transfer.wallet_tx_hash, status)
      if (verdict.kind === 'halt') return haltTransfer(trx, log, transfer, verdict.reason, now)
      if (verdict.txHash !== null && (await isHashOfAnother(trx, transfer, verdict.txHash))) {
        const reason = 'The wallet service reports the transaction hash of another transfer'
        return haltTransfer(trx, log, transfer, reason, now)
      }
      if (isReplacedTooOften(transfer, verdict.txHash)) {
        return haltTransfer(trx, log, transfer, 'The wallet service reports ever new transaction hashes', now)
      }
      if (verdict.kind === 'wait') return keepAsking(trx, transfer, verdict.txHash, now)
      const subject = recordedTransfers(log)
      const { more, ...gathered } = await gatherEnding(trx, transfer, subject)
      const compared = await stopUnlessSame(trx, subject, transfer, gathered, now)
      if ('refusal' in compared) return
      const { feeLimit } = compared.recorded
      await endTransfer(trx, transfer, { ...verdict, feeLimit, coin: coinOf(more) }, now)
    },
  )
}

async function keepAsking(trx: Trx, transfer: LockedTransfer, txHash: string | null, now: Date): Promise<void> {
  const phase = txHash === null ? 'submitted' : 'broadcast'
  const isNewHash = txHash !== null && txHash !== transfer.wallet_tx_hash
  const asked = phase !== transfer.phase || isNewHash ? 0 : Math.min(transfer.asked + 1, 1_000)
  const { columns, records } = followHash(trx, transfer, txHash, now)
  const next = { ...columns, halt_reason: null, attempts: 0, asked, next_attempt_at: askAgainAt(now, asked) }
  await runParts(trx, [
    ...phaseMoved(trx, transfer, phase, next),
    ...records,
    ...(isNewHash ? [operationHashSet(transfer.vault_id, transfer.id, txHash)] : []),
  ])
}

const hashesOf = ({ wallet_tx_hash, replaced_tx_hashes }: LockedTransfer, txHash: string | null): Set<string> =>
  new Set([...replaced_tx_hashes, wallet_tx_hash, txHash].filter((hash) => hash !== null))

function isReplacedTooOften(transfer: LockedTransfer, txHash: string | null): boolean {
  return hashesOf(transfer, txHash).size > txHashesMax
}

/** The columns of the hash that the wallet service names now; the one before is kept, and the change gets a record. */
function followHash(
  trx: Trx,
  transfer: LockedTransfer,
  txHash: string | null,
  now: Date,
): { columns: DeliveryChanges; records: Part[] } {
  const { vault_id: vaultId, id: targetId, wallet_tx_hash: from } = transfer
  if (txHash === null || from === null || txHash === from)
    return { columns: { wallet_tx_hash: txHash ?? from }, records: [] }
  const details = { from, to: txHash }
  const event = { vaultId, actorId: null, action: 'transfer.replaced', targetType: 'transfer', targetId, details, now }
  const replaced_tx_hashes = [...hashesOf(transfer, null)].filter((hash) => hash !== txHash)
  return {
    columns: { wallet_tx_hash: txHash, replaced_tx_hashes },
    records: insertsOf({ audit_records: [toAuditRow(trx, event)] }),
  }
}

/** Reads a locked transfer with its records, and locks the accounts that its end changes. */
export const gatherEnding = (trx: Trx, transfer: LockedTransfer, subject: ReturnType<typeof recordedTransfers>) =>
  gather(trx, subject, transfer, lockedAccounts(transfer))

type Ending = Extract<StatusVerdict, { kind: 'confirm' | 'fail' }> & {
  /** What it may cost according to the audit records. */
  feeLimit: FeeLimit
  coin: LockedCoin
}

/** The people who decided, instead of the service itself. */
type Decided = { actorId: string; resolution: Record<string, unknown> }

/** Confirms or fails the transfer and posts its network fee, in one transaction. */
export async function endTransfer(
  trx: Trx,
  transfer: LockedTransfer,
  verdict: Ending,
  now: Date,
  decided?: Decided,
): Promise<void> {
  const { vault_id: vaultId, id: operationId, address_id: addressId } = transfer
  const { txHash, coin } = verdict
  const fee = verdict.fee !== null && verdict.fee > 0n ? verdict.fee : null
  // Balances never go below zero: a fee that exceeds the balance is posted as soon as it is covered.
  const returned = verdict.kind === 'fail' && coin?.id === transfer.token_id ? transfer.amount : 0n
  const isAffordable = fee !== null && coin !== null && coin.available + returned >= fee
  const { columns, records } = followHash(trx, transfer, txHash, now)
  const movement: Movement = {
    event: verdict.kind === 'confirm' ? 'confirmed' : 'failed',
    actorId: null,
    ...decided,
    now,
    txHash,
    ...(verdict.kind === 'confirm' ? { blockchainAt: verdict.blockTime } : { failureReason: verdict.reason }),
    changes: {
      fee: verdict.fee?.toString() ?? null,
      fee_token_id: coin?.id ?? null,
      fee_owed: fee !== null && coin !== null && !isAffordable,
      ...columns,
      halt_reason: null,
    },
    extraPostings: isAffordable
      ? [posting('fee', { vaultId, tokenId: coin.id, addressId, operationId, amount: fee })]
      : [],
  }
  await moveTransfer(trx, transfer, movement, records)
  const { maxFee } = verdict.feeLimit
  if (fee !== null && maxFee !== null && fee > maxFee) await raiseFeeAlarm(trx, transfer, { fee, maxFee, coin }, now)
}

/** On EVM networks one transfer is one transaction; elsewhere a wallet may pay several in one. */
export async function isHashOfAnother(
  trx: Trx,
  { vault_id: vaultId, id, network_type }: LockedTransfer,
  txHash: string,
): Promise<boolean> {
  if (network_type !== 'evm') return false
  // Two transfers that report the same hash concurrently do not see each other; this lock makes one of them wait.
  await sql`${prepared} select pg_advisory_xact_lock(hashtextextended(${`${vaultId} ${txHash}`}, 2))`.execute(trx)
  return hasAnotherThisHash(trx, { vaultId, id, txHash })
}

export async function hasAnotherThisHash(
  db: Db | Trx,
  { vaultId, id, txHash }: { vaultId: string; id: string; txHash: string },
): Promise<boolean> {
  const { rows } = await sql`${prepared}
    select from operations where vault_id = ${vaultId} and tx_hash = ${txHash} and type = 'transfer' and id <> ${id}
    union all
    select from transfers where replaced_tx_hashes <> '{}' and replaced_tx_hashes @> array[${txHash}]::text[]
      and vault_id = ${vaultId} and id <> ${id} limit 1`.execute(db)
  return rows.length > 0
}
