import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import type { TransactionState } from '../../registry/wallet-service/answers.ts'
import { throwBadGateway } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import { type Executor, StaleError, type Step, type StepContext } from '../../rules/votes/executor.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { lockAccounts } from '../delivery/fees.ts'
import { endTransfers, findFree, listTaken, paidByOthers, payersOf } from '../delivery/settle.ts'
import type { Payload } from '../orders/payload.ts'
import { changedMeanwhile, deciding, notProven } from '../resolutions/may-resolve.ts'
import { compareWithRecord, type FeeLimit, readRecordedState } from '../transfers/compare-order.ts'
import { movePhase, moveTransfer, restoreTransfer } from '../transfers/move.ts'
import {
  type DeliveryState,
  findDeliveryState,
  type LockedTransfer,
  listStoredOrders,
  lockTransfer,
} from '../transfers/queries.ts'
import {
  judge,
  type ResolutionOutcome,
  type ResolutionProof,
  type ResolutionStep,
  type StuckTransfer,
  type Verdict,
  type WalletAnswers,
} from './resolution.ts'

/** A resolution as a person requests it. */
type ResolutionWish = { outcome: ResolutionOutcome; txHash: string | null; reason: string }

/** The evidence that the server gathered when the resolution was requested; voters see it and vote on its hash. */
type ResolutionEvidence = {
  askedAt: string
  proof: ResolutionProof
  /** The proof in a sentence. */
  finding: string
  /** The difference between the rows and the audit records, or null when they agree. */
  difference: string | null
  /** The order according to the audit records, which is settled or released. */
  order: Payload
  haltReason: string | null
  /** The state of the delivery at that time; a change makes the request stale. */
  version: string
  wallet: WalletAnswers
}

/** `evidence` is null only for a request that the policies refuse: for such a caller the wallet service is not asked. */
type ResolutionPayload = ResolutionWish & { evidence: ResolutionEvidence | null }

/** Asks the wallet service about a halted transfer, without an open transaction. @throws 409 with the finding in place of a proof; 502 */
export async function gatherEvidence(
  deps: Deps,
  { vaultId, id }: { vaultId: string; id: string },
  { outcome, txHash }: ResolutionWish,
): Promise<ResolutionEvidence> {
  const delivery = await findDeliveryState(deps.db, vaultId, id)
  if (delivery === null) throw notFound('Transfer')
  assertStuck(delivery)
  const { stuck, difference } = await readStuck(deps.db, { vaultId, id, delivery })
  const answers = await askWallet(await walletOfVault(deps, vaultId), { id, stuck, txHash })
  const wallet = await withTaken(deps.db, { vaultId, id }, answers)
  const { proof, finding, step } = assertProven(judge(outcome, stuck, wallet))
  if (txHash !== null) {
    const indexes = step.kind === 'settle' ? step.indexes : []
    if ((await findFree(deps.db, { vaultId, id, txHash: txHashKey(txHash), indexes })) === null) throw taken()
  }
  const { order } = stuck
  const version = versionOf(delivery)
  const haltReason = delivery.halt_reason
  return { askedAt: deps.clock().toISOString(), proof, finding, difference, order, haltReason, version, wallet }
}

/** Settles, releases or resumes a halted transfer, by two people and with evidence (contract 10.8). */
export function transferResolveExecutor(deps: Deps): Executor {
  return {
    async prepare(db, { vaultId }, step) {
      const { evidence } = payloadOf(step)
      const delivery = await findDeliveryState(db, vaultId, step.targetId ?? '')
      if (delivery === null) throw notFound('Transfer')
      const baseVersion = versionOf(delivery)
      if (evidence !== null) {
        assertStuck(delivery)
        if (evidence.version !== baseVersion) throw changedMeanwhile('transfer')
      }
      return { step, targetType: 'transfer', targetId: step.targetId, baseVersion, facts: {} }
    },

    decide: deciding('transfer_resolve', 'transfer'),

    async prefetch({ vaultId }, step, use) {
      const id = step.targetId ?? ''
      const delivery = await findDeliveryState(deps.db, vaultId, id)
      if (delivery === null) return use(null)
      const { stuck } = await readStuck(deps.db, { vaultId, id, delivery })
      return use(await askWallet(await walletOfVault(deps, vaultId), { id, stuck, txHash: payloadOf(step).txHash }))
    },

    async apply(trx, context, step, baseVersion, fetched) {
      const { vaultId, now } = context
      const id = step.targetId ?? ''
      const locked = await lockTransfer(trx, vaultId, id)
      if (locked === null || fetched === null) throw notFound('Transfer')
      if (versionOf(locked) !== baseVersion) throw new StaleError()
      const { stuck, difference, feeLimit, expiresAt } = await readStuck(trx, { vaultId, id, delivery: locked })
      const answers = await withTaken(trx, { vaultId, id }, fetched as WalletAnswers)
      const proven = assertProven(judge(payloadOf(step).outcome, stuck, answers))
      let transfer = locked
      if (difference !== null) {
        await restoreTransfer(trx, locked, { ...stuck, expiresAt }, now)
        transfer = (await lockTransfer(trx, vaultId, id))!
      }
      await carryOut(trx, transfer, { stuck, feeLimit, proven, step, context })
      return { resultId: id }
    },
  }
}

type Work = {
  stuck: StuckTransfer
  feeLimit: FeeLimit
  proven: { proof: ResolutionProof; finding: string; step: ResolutionStep }
  step: Step
  context: StepContext
}

async function carryOut(
  trx: Trx,
  transfer: LockedTransfer,
  { stuck, feeLimit, proven, step, context }: Work,
): Promise<void> {
  const { initiatorId: actorId, now } = context
  const { outcome, reason } = payloadOf(step)
  const { proof, finding, step: next } = proven
  const decided = { actorId, resolution: { outcome, reason, proof, finding } }
  switch (next.kind) {
    case 'settle': {
      const { txHash, indexes, fee, feePaidBy, blockTime } = next
      const free = await findFree(trx, { vaultId: context.vaultId, id: transfer.id, txHash, indexes })
      if (free === null || (await paidByOthers(trx, [{ transfer, txHash, ...free }])).size > 0) throw taken()
      const payer = await lockPayer(trx, transfer, feePaidBy, now)
      const verdict = { kind: 'confirm', txHash, ...free, fee, feePaidBy, blockTime, feeLimit } as const
      return endTransfers(trx, [{ transfer, ...verdict, ...payer, decided }], now)
    }
    case 'fail': {
      const { txHash, txIndex, fee, feePaidBy, reason: failure } = next
      const payer = await lockPayer(trx, transfer, feePaidBy, now)
      const verdict = {
        kind: 'fail',
        txHash,
        txIndex,
        fee,
        feePaidBy,
        reason: `RELEASED: ${failure}`,
        feeLimit,
      } as const
      return endTransfers(trx, [{ transfer, ...verdict, ...payer, decided }], now)
    }
    case 'cancel':
      return moveTransfer(trx, transfer, {
        event: 'cancelled',
        ...decided,
        now,
        failureReason: 'RELEASED: it was never handed over',
        changes: { halt_reason: null },
      })
    case 'restore':
      await assertRestored(trx, transfer)
      return recordResumption(trx, transfer, decided, now)
    case 'continue': {
      await assertRestored(trx, transfer)
      const isSentAgain = next.phase === 'submitting'
      if (isSentAgain && !transfer.token_enabled) throw conflict('disabled', 'The token of the transfer is disabled')
      await movePhase(trx, transfer, next.phase, {
        halt_reason: null,
        attempts: 0,
        next_attempt_at: next.phase === 'waiting' ? null : now,
        // The wallet service has forgotten the transfer and may sign another transaction.
        ...(isSentAgain ? { wallet_tx_hash: null, tx_index: null, replaced_tx_hashes: hashesOf(stuck) } : {}),
      })
      return recordResumption(trx, transfer, { ...decided, phase: next.phase, txHash: stuck.knownTxHash }, now)
    }
  }
}

/** Locks the accounts of the transfer. Returns the address of the vault that pays the fee, and its coin. */
async function lockPayer(trx: Trx, transfer: LockedTransfer, feePaidBy: string | null, now: Date) {
  const payerId = (await payersOf(trx, [{ transfer, verdict: { feePaidBy } }])).get(transfer.id) ?? null
  return { payerId, coin: await lockAccounts(trx, transfer, payerId ?? transfer.address_id, now) }
}

const hashesOf = ({ knownTxHash, earlierTxHashes }: StuckTransfer): string[] =>
  knownTxHash === null ? earlierTxHashes : [...earlierTxHashes, knownTxHash]

/** Compares a transfer that is to continue with its audit records. @throws 409 when any part differs */
async function assertRestored(trx: Trx, { vault_id: vaultId, id }: LockedTransfer): Promise<void> {
  const [stored] = await listStoredOrders(trx, vaultId, [id])
  const compared = compareWithRecord(stored!, await listRecordsOf(trx, vaultId, 'transfer', [id]))
  if ('difference' in compared) throw notProven(`It differs from its audit records: ${compared.difference}`)
}

async function recordResumption(
  trx: Trx,
  { vault_id: vaultId, id }: LockedTransfer,
  {
    actorId,
    ...details
  }: { actorId: string; resolution: Record<string, unknown>; phase?: string; txHash?: string | null },
  now: Date,
): Promise<void> {
  await audit(trx, { vaultId, actorId, now }, 'transfer.resumed', { type: 'transfer', id }, details)
}

/** Reads a halted transfer. @throws 409 when its audit records do not form a consistent state */
async function readStuck(
  db: Db | Trx,
  { vaultId, id, delivery }: { vaultId: string; id: string; delivery: DeliveryState },
): Promise<{ stuck: StuckTransfer; difference: string | null; feeLimit: FeeLimit; expiresAt: Date | null }> {
  const [stored] = await listStoredOrders(db, vaultId, [id])
  const recorded = readRecordedState(stored!, await listRecordsOf(db, vaultId, 'transfer', [id]))
  if ('unreadable' in recorded)
    throw notProven(`Its state cannot be read from its audit records: ${recorded.unreadable}`)
  const { order, status, difference, lasting, feeLimit, expiresAt } = recorded
  const stuck = {
    order,
    status,
    knownTxHash: delivery.wallet_tx_hash,
    knownTxIndex: delivery.tx_index,
    earlierTxHashes: delivery.replaced_tx_hashes,
    isOfPayout: delivery.payout_id !== null,
    lasting,
  }
  return { stuck, difference, feeLimit, expiresAt }
}

/** @throws 502 */
async function askWallet(
  wallet: WalletClient,
  { id, stuck, txHash }: { id: string; stuck: StuckTransfer; txHash: string | null },
): Promise<WalletAnswers> {
  const find = (hash: string | null) =>
    hash === null ? null : wallet.getTransaction({ network: stuck.order.network, hash: txHashKey(hash) })
  try {
    const transfer = await wallet.getTransfer(id)
    const transaction = await find(txHash ?? stuck.knownTxHash ?? transfer?.txHash ?? null)
    const replacement = await find(transfer?.replacedBy?.hash ?? null)
    const findAll = async (hashes: string[]) => {
      const found: TransactionState[] = []
      for (const hash of hashes) found.push(...[await find(hash)].filter((state) => state !== null))
      return found
    }
    const earlier = await findAll(stuck.earlierTxHashes)
    const builtOn = (transfer?.replacedBy?.outputs ?? []).slice(0, -1).map(({ txHash }) => txHash)
    return {
      transfer,
      transaction,
      replacement,
      earlier,
      ...(builtOn.length > 0 ? { lost: await findAll(builtOn) } : {}),
    }
  } catch (error) {
    return throwBadGateway(error)
  }
}

/** Adds the numbers of the parts of the replacement that pay other transfers, where a transaction may pay several transfers. */
async function withTaken(
  db: Db | Trx,
  { vaultId, id }: { vaultId: string; id: string },
  answers: WalletAnswers,
): Promise<WalletAnswers> {
  const { replacement } = answers
  if (replacement === null || replacement.from !== null) return answers
  const paidToOthers = await listTaken(db, { vaultId, id, txHash: txHashKey(replacement.hash) })
  return { ...answers, paidToOthers }
}

/** Checks that a transfer is halted, or waits with a reason, for example because the wallet service no longer knows it. @throws 409 */
function assertStuck({ status, phase, halt_reason }: DeliveryState): void {
  if (phase === 'halted' || (status === 'pending' && halt_reason !== null)) return
  throw conflict('wrong_state', 'The transfer is neither halted nor held back, so there is nothing to resolve')
}

function assertProven(verdict: Verdict): Exclude<Verdict, { refusal: string }> {
  if ('refusal' in verdict) throw notProven(verdict.refusal)
  return verdict
}

const taken = () => notProven('Another transfer of the vault has this transaction')

/** Returns a digest of the state on which a resolution is decided. It changes when the delivery continues. */
function versionOf({ status, phase, halt_reason, wallet_tx_hash }: DeliveryState): string {
  return sha256(canonicalJson({ status, phase, halt_reason, wallet_tx_hash })).toString('hex').slice(0, 16)
}

/** Returns the payload. The route made it, and its hash ensures that it is unchanged. */
function payloadOf(step: Step): ResolutionPayload {
  return step.payload as ResolutionPayload
}
