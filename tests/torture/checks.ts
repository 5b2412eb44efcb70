import { verifyTransfers } from '../../server/src/modules/money/transfers/compare-order.ts'
import { verifyLedger } from '../../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../../server/src/modules/money/verifications/verify-seals.ts'
import { verifyAudit } from '../../server/src/modules/record/audit/verify.ts'
import { verifyRequests } from '../../server/src/modules/rules/approval-requests/compare-request-record.ts'
import type { Acknowledged } from './load.ts'
import type { Books } from './stack.ts'
import { type Wallet, walletFee } from './wallet.ts'

const namedMax = 5

/** Every row is there with all its related rows, whether or not a client got the answer. */
export async function assertNothingHalf(stack: Books): Promise<void> {
  const found = await stack.sql(
    halves.map(([what, query]) => `select '${what}' as what, id from (${query}) half`).join(' union all '),
  )
  refuse(
    'Something is half there',
    found.map(({ what, id }) => `${what}: ${id}`),
  )
}

const entry = (kind: string) =>
  `select from ledger_entries e where e.vault_id = o.vault_id and e.operation_id = o.id and e.kind = '${kind}'`
const record = (action: string) =>
  `select from audit_records r where r.chain = o.vault_id and r.target_id = o.id and r.action = '${action}'`
const operations = (condition: string) =>
  `select o.id from operations o join transfers t using (vault_id, id) where ${condition}`

/** Queries that return no rows for a consistent database; the verifier checks the ledger itself. */
const halves: [string, string][] = [
  [
    'a deposit without its row',
    `select o.id from operations o
     where o.type = 'deposit' and not exists (select from deposits d where d.vault_id = o.vault_id and d.id = o.id)`,
  ],
  [
    'a deposit without its operation',
    `select d.id from deposits d
     where not exists (select from operations o where o.vault_id = d.vault_id and o.id = d.id)`,
  ],
  [
    'a deposit without its credit',
    `select o.id from operations o where o.type = 'deposit' and not exists (${entry('deposit')})`,
  ],
  [
    'a deposit without its event',
    `select o.id from operations o where o.type = 'deposit'
     and not exists (select from wallet_events w where w.outcome = 'credited' and w.deposit_id = o.id)`,
  ],
  [
    'an event without its deposit',
    `select w.id from wallet_events w where w.outcome in ('credited', 'duplicate')
     and not exists (select from deposits d where d.vault_id = w.vault_id and d.id = w.deposit_id)`,
  ],
  [
    'a transfer without its order',
    `select o.id from operations o
     where o.type = 'transfer' and not exists (select from transfers t where t.vault_id = o.vault_id and t.id = o.id)`,
  ],
  [
    'an order without its transfer',
    `select t.id from transfers t
     where not exists (select from operations o where o.vault_id = t.vault_id and o.id = t.id)`,
  ],
  ['a transfer without its reservation', operations(`not exists (${entry('reserve')})`)],
  ['a transfer without its record', operations(`not exists (${record('transfer.requested')})`)],
  [
    'a confirmed transfer without its record',
    operations(`o.status = 'confirmed' and not exists (${record('transfer.confirmed')})`),
  ],
  [
    'a failed transfer without its record',
    operations(`o.status = 'failed' and not exists (${record('transfer.failed')})`),
  ],
  [
    'a vetoed transfer without its record',
    operations(`o.status = 'rejected' and not exists (${record('transfer.vetoed')})`),
  ],
  [
    'a transfer whose delivery does not fit its status',
    operations(`t.phase <> all (case o.status when 'awaiting_approval' then array['waiting']
      when 'pending' then array['queued', 'submitting', 'submitted', 'broadcast'] else array['done'] end)`),
  ],
  [
    'a transfer whose place in the queues does not fit its phase',
    `select t.id from transfers t left join deliveries d on d.vault_id = t.vault_id and d.id = t.id
     where d.queue is distinct from case when t.phase = 'waiting' then 'votes' when t.phase = 'halted' then 'halted'
       when t.phase in ('queued', 'submitting') or (t.phase <> 'done' and t.replacement_due) then 'hand-over'
       when t.phase <> 'done' then 'follow' end`,
  ],
  [
    'a vote without its record',
    `select v.subject_id as id from approval_voters v where v.decision is not null and not exists (
       select from audit_records r where r.chain = v.vault_id and r.target_id = v.subject_id and r.actor_id = v.user_id
       and r.action = 'transfer.' || case v.decision when 'approve' then 'approved' else 'rejected' end)`,
  ],
  [
    'a record without its vote',
    `select r.target_id as id from audit_records r
     where r.action in ('transfer.approved', 'transfer.rejected') and not exists (
       select from approval_voters v where v.vault_id = r.chain and v.subject_id = r.target_id
       and v.user_id = r.actor_id and v.decision is not null)`,
  ],
]

type Row = { id: string; amount: string }
type Seen = {
  deposits: (Row & { tx_hash: string })[]
  transfers: (Row & { to_address: string; status: string; phase: string })[]
  votes: { subject_id: string; user_id: string; decision: string }[]
  balance: string
}

/**
 * Everything that was acknowledged exists exactly once, and nothing else; the wallet's log has one broadcast for every
 * transfer that was handed over. Must run while no request is unanswered.
 */
export async function assertAcknowledged(stack: Books, wallet: Wallet, acknowledged: Acknowledged): Promise<void> {
  const sentBefore = countSent(wallet)
  const seen = await readSeen(stack)
  const sent = countSent(wallet)

  refuse(
    'Deposits',
    compare(seen.deposits, (row) => row.tx_hash, acknowledged.deposits),
  )
  assertTransfersAndVotes(seen, acknowledged)

  const faults: string[] = []
  let balance = [...acknowledged.deposits.values()].reduce((sum, { amount }) => sum + amount, 0n)
  for (const { to_address, status, phase, amount } of seen.transfers) {
    if (status === 'confirmed') balance -= BigInt(amount) + walletFee
    const isUnsent = status === 'rejected' || phase === 'queued'
    const isSent = phase === 'submitted' || phase === 'broadcast' || status === 'confirmed' || status === 'failed'
    const [before, after] = [sentBefore.get(to_address) ?? 0, sent.get(to_address) ?? 0]
    if (after > 1 || (isUnsent && before > 0) || (isSent && after === 0)) {
      faults.push(`${to_address} is ${status} and ${phase}, and was broadcast ${after} times`)
    }
  }
  for (const toAddress of sent.keys()) {
    if (!acknowledged.transfers.has(toAddress)) faults.push(`${toAddress} was broadcast, and nobody asked for it`)
  }
  refuse("The wallet's log", faults)
  if (balance.toString() !== seen.balance) {
    throw new Error(`The addresses hold ${seen.balance}; what was acknowledged comes to ${balance}`)
  }
}

/** One statement is one snapshot, because transfers continue to move. */
export async function readSeen(stack: Books): Promise<Seen> {
  const [seen] = (await stack.sql(`
    select
      (select coalesce(json_agg(json_build_object('id', d.id, 'tx_hash', d.tx_hash, 'amount', o.amount::text)), '[]')
        from deposits d join operations o using (vault_id, id)) as deposits,
      (select coalesce(json_agg(json_build_object('id', t.id, 'to_address', t.to_address, 'amount', o.amount::text,
          'status', o.status, 'phase', t.phase)), '[]')
        from transfers t join operations o using (vault_id, id)) as transfers,
      (select coalesce(json_agg(json_build_object('subject_id', subject_id, 'user_id', user_id, 'decision', decision)), '[]')
        from approval_voters where decision is not null) as votes,
      (select coalesce(sum(balance), 0)::text from ledger_accounts) as balance`)) as [Seen]
  return seen
}

/** Each acknowledged transfer and vote is there exactly once, and no other; votes have decided what they decide. */
export function assertTransfersAndVotes(seen: Seen, acknowledged: Acknowledged): void {
  refuse(
    'Transfers',
    compare(seen.transfers, (row) => row.to_address, acknowledged.transfers),
  )
  const votes = new Map(seen.votes.map((row) => [`${row.subject_id} ${row.user_id}`, row.decision]))
  refuse('Votes', [
    ...[...acknowledged.votes].flatMap(([key, decision]) =>
      votes.get(key) === decision ? [] : [`${key}: ${decision} was acknowledged, ${votes.get(key)} is there`],
    ),
    ...[...votes.keys()].flatMap((key) => (acknowledged.votes.has(key) ? [] : [`${key} was never acknowledged`])),
  ])
  const faults: string[] = []
  for (const { to_address, status } of seen.transfers) {
    const { isVetoed } = acknowledged.transfers.get(to_address)!
    if (isVetoed !== (status === 'rejected') || status === 'awaiting_approval') {
      faults.push(`${to_address} is ${status} ${isVetoed ? 'after a veto' : 'after all its votes'}`)
    }
  }
  refuse('What votes decided', faults)
}

/** The verifiers of `strongroom ledger verify` and `strongroom audit verify`. */
export async function assertSoundBooks(stack: Books): Promise<void> {
  const { differences } = await verifyLedger(stack.books())
  refuse(
    'The ledger',
    differences.map(({ kind, detail }) => `${kind}: ${detail}`),
  )
  const chains = [...(await verifyLedgerSeals(stack.books())), ...(await verifyAudit(stack.books()))]
  refuse(
    'What is sealed',
    chains.flatMap(({ chain, fault }) => (fault === null ? [] : [`${chain}: ${fault.kind} ${fault.detail}`])),
  )
  const reports = [await verifyTransfers(stack.books()), await verifyRequests(stack.books())]
  refuse(
    'What was decided, compared with the record,',
    reports.flatMap((report) => report.differences.map(({ targetId, detail }) => `${targetId}: ${detail}`)),
  )
}

function compare<Found extends Row>(
  rows: Found[],
  keyOf: (row: Found) => string,
  acknowledged: Map<string, { id: string; amount: bigint }>,
): string[] {
  const found = new Map<string, Found>()
  const faults: string[] = []
  for (const row of rows) {
    const key = keyOf(row)
    if (found.has(key)) faults.push(`${key} is there twice: ${found.get(key)!.id} and ${row.id}`)
    if (!acknowledged.has(key)) faults.push(`${key} is there and was never acknowledged`)
    found.set(key, row)
  }
  for (const [key, { id, amount }] of acknowledged) {
    const row = found.get(key)
    if (row === undefined) faults.push(`${key} was acknowledged as ${id} and is not there`)
    else if (row.id !== id || BigInt(row.amount) !== amount) {
      faults.push(`${key} was acknowledged as ${id} over ${amount}, and ${row.id} over ${row.amount} is there`)
    }
  }
  return faults
}

function countSent(wallet: Wallet): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { toAddress } of wallet.log) counts.set(toAddress, (counts.get(toAddress) ?? 0) + 1)
  return counts
}

export function refuse(what: string, faults: string[]): void {
  if (faults.length === 0) return
  const rest = faults.length > namedMax ? ` and ${faults.length - namedMax} more` : ''
  throw new Error(`${what}: ${faults.slice(0, namedMax).join('; ')}${rest}`)
}
