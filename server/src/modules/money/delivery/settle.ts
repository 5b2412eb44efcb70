import { sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { insertsOf, runParts } from '../../../db/insert-rows.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { txHashesMax } from '../../../lib/limits.ts'
import type { Phase } from '../../../lib/operations.ts'
import { operationHashesSet } from '../../operations/feed/operation-rows.ts'
import { toAuditRow } from '../../record/audit/record.ts'
import { gatherAll, stopUnlessSame } from '../../rules/votes/ballot.ts'
import { posting } from '../ledger/postings.ts'
import type { FeeLimit } from '../transfers/compare-order.ts'
import { queueOf } from '../transfers/lifecycle.ts'
import {
  type DeliveryChanges,
  haltTransfer,
  type Moved,
  moveTransfers,
  phasesMoved,
  postponeWithAlert,
  raiseAlarm,
  recordedTransfers,
} from '../transfers/move.ts'
import { type LockedTransfer, lockAnswerable } from '../transfers/queries.ts'
import { after, askAgainAt, type Claim, retryMillisecondsMax, workOnClaimed } from './claim.ts'
import { evaluateStatus, type Paying, type StatusVerdict, type WalletStatus } from './evaluate-status.ts'
import { coinOf, findPayers, type LockedCoin, lockedAccounts, raiseFeeAlarm } from './fees.ts'

/**
 * Postpones the next question about a transfer that the wallet service had accepted and no longer knows. Sending it again could
 * pay twice, so people are notified and the status is queried less often.
 */
export function noteForgotten(deps: Deps, claim: Claim): Promise<void> {
  return workOnClaimed(deps, claim, (trx, transfer, now) => {
    const nextAttemptAt = after(now, retryMillisecondsMax)
    const reason = 'The wallet service no longer knows this transfer'
    return postponeWithAlert(trx, deps.log, transfer, reason, { now, nextAttemptAt })
  })
}

/** The result of reports: the ids of the transfers with news, and the ids that are not of transfers in flight. */
export type Applied = { news: string[]; strange: string[] }

/** Applies an answer about one transfer as `applyReports` does. Returns true if the answer was news. */
export async function applyStatus(
  deps: Deps,
  { vaultId, id, isFollowed = false }: Pick<Claim, 'vaultId' | 'id'> & Partial<Pick<Claim, 'isFollowed'>>,
  status: WalletStatus,
): Promise<boolean> {
  const reports = new Map([[id, status]])
  const { news } = await applyReportsAlone(deps, { vaultId, reports, isFollowed, isAsked: true })
  return news.length > 0
}

/** Applies reports as `applyReports` does, in its own transaction. */
export const applyReportsAlone = (deps: Deps, reported: Reports): Promise<Applied> =>
  inTransaction(deps.db, (trx) => applyReports(trx, deps, reported))

type Reports = {
  vaultId: string
  /** The reports by the id of the transfer, in the order of their arrival. */
  reports: Map<string, WalletStatus>
  /** True if the changes of the wallet service are followed, so that questions about a transfer are rare. */
  isFollowed: boolean
  /** True if the reports answer questions about their transfers. The next question is then planned. */
  isAsked: boolean
}

/**
 * Applies the reports of the wallet service about transfers, in as many statements as one transfer needs. A contradiction halts
 * its own transfer and stops no other.
 */
export async function applyReports(trx: Trx, { log, clock }: Deps, reported: Reports): Promise<Applied> {
  const { vaultId, reports } = reported
  const now = clock()
  const locked = await lockAnswerable(trx, vaultId, [...reports.keys()])
  const judged = await judge(trx, inOrderOf(reports, locked), reports)
  const halted = judged.filter((judgement) => judgement.verdict.kind === 'halt')
  for (const { transfer, verdict } of halted)
    if (verdict.kind === 'halt') await haltTransfer(trx, log, transfer, verdict.reason, now)
  const waiting = judged.flatMap(({ transfer, verdict }) => (verdict.kind === 'wait' ? [{ transfer, ...verdict }] : []))
  const moved = await keepAsking(trx, log, waiting, reported, now)
  const ending = judged.flatMap(({ transfer, verdict }) =>
    verdict.kind === 'confirm' || verdict.kind === 'fail' ? [{ transfer, verdict }] : [],
  )
  await endAsRecorded(trx, log, ending, now)
  const known = new Set(locked.map(({ id }) => id))
  return {
    news: [...halted, ...moved, ...ending].map(({ transfer }) => transfer.id),
    strange: [...reports.keys()].filter((id) => !known.has(id)),
  }
}

type Judged = { transfer: LockedTransfer; verdict: StatusVerdict }

const inOrderOf = (reports: Map<string, unknown>, transfers: LockedTransfer[]): LockedTransfer[] => {
  const byId = new Map(transfers.map((transfer) => [transfer.id, transfer]))
  return [...reports.keys()].flatMap((id) => byId.get(id) ?? [])
}

async function judge(trx: Trx, transfers: LockedTransfer[], reports: Map<string, WalletStatus>): Promise<Judged[]> {
  const judged = transfers.map((transfer) => ({
    transfer,
    verdict: evaluateStatus(transfer.current, knownOf(transfer), reports.get(transfer.id)!),
  }))
  const named = judged.flatMap(({ transfer, verdict }) => {
    if (verdict.kind === 'halt' || verdict.txHash === null) return []
    return [{ transfer, txHash: verdict.txHash, txIndex: verdict.txIndex }]
  })
  const taken = await paidByOthers(trx, named)
  return judged.map(({ transfer, verdict }) => {
    if (verdict.kind === 'halt') return { transfer, verdict }
    const reason = taken.has(transfer.id)
      ? `The wallet service reports the ${transfer.network_type === 'evm' ? 'transaction hash' : 'output'} of another transfer`
      : isReplacedTooOften(transfer, verdict.txHash)
        ? 'The wallet service reports ever new transaction hashes'
        : null
    return { transfer, verdict: reason === null ? verdict : { kind: 'halt', reason } }
  })
}

const knownOf = ({ wallet_tx_hash, tx_index }: LockedTransfer): Paying => ({
  txHash: wallet_tx_hash,
  txIndex: tx_index,
})

type Waiting = Paying & { transfer: LockedTransfer }

/** Returns the transfers with news. The other transfers are not written, unless they were asked about. */
async function keepAsking(
  trx: Trx,
  log: Deps['log'],
  waiting: Waiting[],
  { vaultId, reports, isFollowed, isAsked }: Reports,
  now: Date,
): Promise<Waiting[]> {
  const steps = waiting.map(({ transfer, txHash, txIndex }) => {
    const to: Phase = txHash === null ? 'submitted' : 'broadcast'
    const newHash = txHash === transfer.wallet_tx_hash ? null : txHash
    const isNews = to !== transfer.phase || newHash !== null || txIndex !== transfer.tx_index
    const timesAsked = isNews ? 0 : Math.min(transfer.asked + 1, 1_000)
    const { columns, records } = followHash(trx, transfer, { txHash, txIndex }, now)
    const isPlanned = isFollowed && !isAsked && timesAsked === transfer.asked && willBeAsked(transfer, now)
    const next_attempt_at = isPlanned ? transfer.next_attempt_at : askAgainAt(now, timesAsked, isFollowed)
    const halt_reason = reasonOf(reports.get(transfer.id)!, isAsked ? null : transfer.halt_reason)
    const changes = { ...columns, halt_reason, attempts: 0, asked: timesAsked, next_attempt_at }
    const hasNews = isNews || transfer.halt_reason !== halt_reason
    return { transfer, txHash, txIndex, to, newHash, isNews: hasNews, changes, records }
  })
  const taken = isAsked ? steps : steps.filter(({ isNews }) => isNews)
  if (taken.length === 0) return []
  const hashes = taken.flatMap(({ transfer: { id }, newHash }) => (newHash === null ? [] : [{ id, txHash: newHash }]))
  await runParts(trx, [
    ...phasesMoved(trx, taken),
    ...insertsOf({ audit_records: taken.flatMap(({ records }) => records) }),
    ...(hashes.length > 0 ? [operationHashesSet(vaultId, hashes)] : []),
  ])
  for (const { transfer, changes } of taken)
    if (changes.halt_reason !== null) await raiseAlarm(trx, log, transfer, changes.halt_reason, now)
  return taken.filter(({ isNews }) => isNews)
}

const placeTaken = 'The wallet service names the transaction that took its place'

/**
 * Returns the reason for which people must decide on a transfer that is not halted: another transaction took its place (contract 10.8).
 * @param kept the stored reason, when the report is a change: a change may leave `replacedBy` out, and takes nothing back by that
 */
function reasonOf({ replacedBy }: WalletStatus, kept: string | null): string | null {
  if (replacedBy === undefined) return kept?.startsWith(placeTaken) ? kept : null
  return replacedBy === null ? null : `${placeTaken}: ${replacedBy.hash}`
}

/** Returns true if a question about the transfer is planned for a later time. */
const willBeAsked = ({ phase, replacement_due, next_attempt_at }: LockedTransfer, now: Date): boolean =>
  queueOf(phase, replacement_due) === 'follow' && next_attempt_at !== null && next_attempt_at > now

/** Ends transfers that agree with their records, and halts the others. */
async function endAsRecorded(
  trx: Trx,
  log: Deps['log'],
  ending: { transfer: LockedTransfer; verdict: Verdict }[],
  now: Date,
): Promise<void> {
  const [first, ...others] = ending.map(({ transfer }) => transfer)
  if (first === undefined) return
  const subject = recordedTransfers(log)
  const payers = await payersOf(trx, ending)
  const payerIds = [...payers.values()].filter((id) => id !== null)
  const accounts = lockedAccounts([first, ...others], payerIds, now)
  const { gathered, more } = await gatherAll(trx, subject, [first, ...others], accounts)
  const endings: Ending[] = []
  for (const { transfer, verdict } of ending) {
    const compared = await stopUnlessSame(trx, subject, transfer, gathered.get(transfer.id)!, now)
    if ('refusal' in compared) continue
    const payerId = payers.get(transfer.id) ?? null
    const coin = coinOf(more, transfer, payerId ?? transfer.address_id)
    endings.push({ transfer, ...verdict, payerId, feeLimit: compared.recorded.feeLimit, coin })
  }
  await endTransfers(trx, endings, now)
}

/** Returns the address of the vault that paid the fee of each transfer; null for a payer outside of the vault. */
export async function payersOf(trx: Trx, ending: { transfer: LockedTransfer; verdict: Pick<Verdict, 'feePaidBy'> }[]) {
  const payers = new Map<string, string | null>(ending.map(({ transfer }) => [transfer.id, transfer.address_id]))
  const byOthers = ending.flatMap(({ transfer, verdict: { feePaidBy } }) =>
    feePaidBy === null ? [] : [{ ...transfer, feePaidBy }],
  )
  const found = await findPayers(trx, byOthers)
  for (const [at, { id }] of byOthers.entries()) payers.set(id, found[at] ?? null)
  return payers
}

const hashesOf = ({ wallet_tx_hash, replaced_tx_hashes }: LockedTransfer, txHash: string | null): Set<string> =>
  new Set([...replaced_tx_hashes, wallet_tx_hash, txHash].filter((hash) => hash !== null))

function isReplacedTooOften(transfer: LockedTransfer, txHash: string | null): boolean {
  return hashesOf(transfer, txHash).size > txHashesMax
}

/** Returns the columns of the hash that the wallet service names now. The earlier hash is kept, and the change gets a record. */
function followHash(
  trx: Trx,
  transfer: LockedTransfer,
  { txHash, txIndex: tx_index }: Paying,
  now: Date,
): { columns: DeliveryChanges; records: ReturnType<typeof toAuditRow>[] } {
  const { vault_id: vaultId, id: targetId, wallet_tx_hash: from } = transfer
  if (txHash === null || from === null || txHash === from)
    return { columns: { wallet_tx_hash: txHash ?? from, tx_index }, records: [] }
  const details = { from, to: txHash }
  const event = { vaultId, actorId: null, action: 'transfer.replaced', targetType: 'transfer', targetId, details, now }
  const replaced_tx_hashes = [...hashesOf(transfer, null)].filter((hash) => hash !== txHash)
  return { columns: { wallet_tx_hash: txHash, tx_index, replaced_tx_hashes }, records: [toAuditRow(trx, event)] }
}

type Verdict = Extract<StatusVerdict, { kind: 'confirm' | 'fail' }>

type Ending = Verdict & {
  transfer: LockedTransfer
  /** The address of the vault that paid the fee; null for a payer outside of the vault, whose fee is not booked. */
  payerId: string | null
  /** The limit of the fee according to the audit records. */
  feeLimit: FeeLimit
  coin: LockedCoin
  /** The people who decided, instead of the service itself. */
  decided?: { actorId: string; resolution: Record<string, unknown> }
}

/** Confirms or fails transfers of one vault and posts their network fees, in one transaction. */
export async function endTransfers(trx: Trx, endings: Ending[], now: Date): Promise<void> {
  const left = new Map<string, bigint>()
  const booked = endings.map((ending) => ({ ...ending, ...bookedFee(ending, left) }))
  const records: ReturnType<typeof toAuditRow>[] = []
  const moves = booked.map(({ transfer, payerId, decided, coin, fee, isAffordable, ...verdict }): Moved => {
    const { vault_id: vaultId, id: operationId } = transfer
    const { txHash, txIndex } = verdict
    const followed = followHash(trx, transfer, { txHash, txIndex }, now)
    records.push(...followed.records)
    const posted = isAffordable && fee !== null && coin !== null && payerId !== null ? { ...coin, amount: fee } : null
    return {
      transfer,
      event: verdict.kind === 'confirm' ? 'confirmed' : 'failed',
      actorId: null,
      ...decided,
      txHash,
      txIndex,
      ...(verdict.kind === 'confirm' ? { blockchainAt: verdict.blockTime } : { failureReason: verdict.reason }),
      changes: {
        fee: verdict.reportedFee?.toString() ?? null,
        fee_token_id: coin?.id ?? null,
        fee_address_id: fee === null || payerId === transfer.address_id ? null : payerId,
        fee_owed: fee !== null && coin !== null && !isAffordable,
        ...followed.columns,
        halt_reason: null,
      },
      bookedFee: posted,
      extraPostings:
        posted === null || payerId === null
          ? []
          : [posting('fee', { vaultId, tokenId: posted.id, addressId: payerId, operationId, amount: posted.amount })],
    }
  })
  await moveTransfers(trx, moves, now, insertsOf({ audit_records: records }))
  for (const { transfer, fee, feeLimit, coin } of booked) {
    const { maxFee } = feeLimit
    if (fee !== null && maxFee !== null && fee > maxFee) await raiseFeeAlarm(trx, transfer, { fee, maxFee, coin }, now)
  }
}

/**
 * Returns the fee that is posted. Balances never go below zero: a fee that exceeds the balance is posted as soon as it is
 * covered.
 *
 * @param left the coin left at each address after the transfers that end earlier in the same statement
 */
function bookedFee({ transfer, payerId, coin, ...verdict }: Ending, left: Map<string, bigint>) {
  const reportedFee = payerId === null ? null : verdict.fee
  const fee = reportedFee !== null && reportedFee > 0n ? reportedFee : null
  if (coin === null) return { reportedFee, fee, isAffordable: false }
  const account = `${payerId} ${coin.id}`
  const isReturned = verdict.kind === 'fail' && coin.id === transfer.token_id && payerId === transfer.address_id
  const returned = isReturned ? transfer.amount : 0n
  const available = (left.get(account) ?? coin.available) + returned
  const isAffordable = fee !== null && available >= fee
  left.set(account, isAffordable ? available - fee : available)
  return { reportedFee, fee, isAffordable }
}

type Named = Paying<string> & { transfer: LockedTransfer }

/**
 * Returns the ids of the transfers whose reported payment belongs to another transfer. On EVM networks the payment is the whole
 * transaction, elsewhere its output, if the wallet service tells the output.
 */
export async function paidByOthers(trx: Trx, named: Named[]): Promise<Set<string>> {
  const exclusive = named.flatMap(({ transfer: { id, network_type }, txHash, txIndex }) => {
    const isWhole = network_type === 'evm'
    return isWhole || txIndex !== null ? [{ id, txHash, txIndex: isWhole ? null : txIndex }] : []
  })
  if (exclusive.length === 0) return new Set()
  const vaultId = named[0]!.transfer.vault_id
  const hashes = exclusive.map(({ txHash }) => txHash)
  // Two transfers that report the same hash concurrently do not see each other; these locks make one of them wait.
  await sql`${prepared}
    select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(${vaultId} || ' ' || hash, 2) as key from unnest(${hashes}::text[]) hash order by key
    ) k`.execute(trx)
  const taken = new Set(await listPaidByOthers(trx, vaultId, exclusive))
  const first = new Map<string, string>()
  for (const { id, txHash, txIndex } of exclusive) {
    const key = `${txHash} ${txIndex}`
    if (first.has(key)) taken.add(id)
    else if (!taken.has(id)) first.set(key, id)
  }
  return taken
}

type OfNamed = Paying<string> & { id: string }

/** Returns the ids of these transfers whose output another transfer of the vault has, or whose transaction another one has or had. */
async function listPaidByOthers(trx: Trx, vaultId: string, named: OfNamed[]): Promise<string[]> {
  const column = <T>(read: (paying: OfNamed) => T) => named.map(read)
  const { rows } = await sql<{ id: string }>`${prepared}
    select n.id from unnest(${column(({ id }) => id)}::text[], ${column(({ txHash }) => txHash)}::text[],
      ${column(({ txIndex }) => txIndex)}::integer[]) n (id, hash, index)
    cross join lateral (
      select from transfer_hashes h where h.vault_id = ${vaultId} and h.tx_hash = n.hash and h.id <> n.id
        and (n.index is null or exists (
          select from transfers t where t.vault_id = h.vault_id and t.id = h.id and t.tx_index = n.index))
      union all
      select from transfers where n.index is null and replaced_tx_hashes <> '{}' and replaced_tx_hashes @> array[n.hash]
        and vault_id = ${vaultId} and id <> n.id limit 1) other`.execute(trx)
  return rows.map(({ id }) => id)
}

/**
 * Returns the part of a transaction that pays the order of this transfer and pays no other transfer.
 * @param indexes the parts that pay the order, where a transaction may pay several transfers
 * @returns null when other transfers have all of these parts, or have a part that is not known
 */
export async function findFree(
  db: Db | Trx,
  { vaultId, id, txHash, indexes }: { vaultId: string; id: string; txHash: string; indexes: number[] },
): Promise<{ txIndex: number | null } | null> {
  const others = await listOthers(db, { vaultId, id, txHash })
  if (others.length === 0) return { txIndex: indexes[0] ?? null }
  if (others.some(({ type, index }) => type === 'evm' || index === null)) return null
  const taken = new Set(others.map(({ index }) => index))
  const txIndex = indexes.find((index) => !taken.has(index))
  return txIndex === undefined ? null : { txIndex }
}

/** The parts of a transaction that pay other transfers of the vault, as far as they are known. */
export async function listTaken(db: Db | Trx, of: { vaultId: string; id: string; txHash: string }): Promise<number[]> {
  return (await listOthers(db, of)).flatMap(({ index }) => index ?? [])
}

async function listOthers(db: Db | Trx, { vaultId, id, txHash }: { vaultId: string; id: string; txHash: string }) {
  const { rows } = await sql<{ type: string; index: number | null }>`${prepared}
    select n.type, case when o.tx_hash = ${txHash} then t.tx_index end as index from (
      select id from transfer_hashes where vault_id = ${vaultId} and tx_hash = ${txHash}
      union
      select id from transfers where replaced_tx_hashes <> '{}' and replaced_tx_hashes @> array[${txHash}]
        and vault_id = ${vaultId}) other
    join transfers t on t.vault_id = ${vaultId} and t.id = other.id
    join operations o on o.vault_id = ${vaultId} and o.id = other.id
    join networks n on n.id = o.network_id
    where other.id <> ${id}`.execute(db)
  return rows
}
