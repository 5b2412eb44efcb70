import type { Breakable, Trigger } from './breakpoints.ts'
import type { WalletStop } from './wallet.ts'

type Part = 'deposit' | 'transfer' | 'vote' | 'hand-over' | 'settlement' | 'sealing'

/** A named moment at which a process can be killed. */
export type Point = Breakable<Part, Trigger | WalletStop>

const becomes = (phases: string, from: string) => `old.phase in (${from}) and new.phase in (${phases})`
const resolves = (status: string, from: string) => `old.status = '${from}' and new.status = '${status}'`
const votes = 'old.decision is null and new.decision is not null'

/**
 * Moments before and after each step that moves money. At "the commit" everything is written, but not yet committed.
 */
export const points: Point[] = [
  on('deposit', 'before its row', 'deposits', 'before insert'),
  on('deposit', 'after its row', 'deposits', 'after insert'),
  on('deposit', 'after its operation', 'operations', 'after insert', "new.type = 'deposit'"),
  on('deposit', 'before the balance moves', 'ledger_accounts', 'before update'),
  on('deposit', 'before its entry', 'ledger_entries', 'before insert', "new.kind = 'deposit'"),
  on('deposit', 'after its entry', 'ledger_entries', 'after insert', "new.kind = 'deposit'"),
  on('deposit', 'before its event is kept', 'wallet_events', 'before insert', "new.outcome = 'credited'"),
  on('deposit', 'the commit', 'wallet_events', 'commit of insert', "new.outcome = 'credited'"),

  on('transfer', 'before its operation', 'operations', 'before insert', "new.type = 'transfer'"),
  on('transfer', 'after its operation', 'operations', 'after insert', "new.type = 'transfer'"),
  on('transfer', 'after its order', 'transfers', 'after insert'),
  on('transfer', 'before its funds are reserved', 'ledger_entries', 'before insert', "new.kind = 'reserve'"),
  on('transfer', 'after its funds are reserved', 'ledger_entries', 'after insert', "new.kind = 'reserve'"),
  on('transfer', 'after its record', 'audit_records', 'after insert', "new.action = 'transfer.requested'"),
  on('transfer', 'after its answer is kept', 'idempotency_keys', 'after insert', 'new.status = 201'),
  on('transfer', 'the commit', 'idempotency_keys', 'commit of insert', 'new.status = 201'),

  on('vote', 'before its row', 'approval_voters', 'before update', votes),
  on('vote', 'after its row', 'approval_voters', 'after update', votes),
  on('vote', 'after its record', 'audit_records', 'after insert', "new.action = 'transfer.approved'"),
  on('vote', 'before the last vote approves', 'operations', 'before update', resolves('pending', 'awaiting_approval')),
  on('vote', 'after the last vote approved', 'transfers', 'after update', becomes("'queued'", "'waiting'")),
  on('vote', 'before a veto releases the funds', 'ledger_entries', 'before insert', "new.kind = 'release'"),
  on('vote', 'after a veto', 'operations', 'after update', resolves('rejected', 'awaiting_approval')),
  on('vote', 'the commit', 'idempotency_keys', 'commit of insert', 'new.status = 200'),

  on('hand-over', 'before the claim', 'transfers', 'before update', becomes("'submitting'", "'queued'")),
  on('hand-over', 'the commit of the claim', 'transfers', 'commit of update', becomes("'submitting'", "'queued'")),
  { part: 'hand-over', name: 'the order is on its way', at: 'before it takes an order' },
  { part: 'hand-over', name: 'the order is taken', at: 'before it answers an order' },
  on(
    'hand-over',
    'before it is noted',
    'transfers',
    'before update',
    becomes("'submitted', 'broadcast'", "'submitting'"),
  ),
  on('hand-over', 'the commit', 'transfers', 'commit of update', becomes("'submitted', 'broadcast'", "'submitting'")),

  { part: 'settlement', name: 'the wallet is asked', at: 'before it answers about a transfer' },
  on('settlement', 'before the fee is noted', 'transfers', 'before update', 'old.fee is null and new.fee is not null'),
  on('settlement', 'before it is confirmed', 'operations', 'before update', resolves('confirmed', 'pending')),
  on('settlement', 'after it is confirmed', 'operations', 'after update', resolves('confirmed', 'pending')),
  on('settlement', 'before its entry', 'ledger_entries', 'before insert', "new.kind = 'settle'"),
  on('settlement', 'after its entry', 'ledger_entries', 'after insert', "new.kind = 'settle'"),
  on('settlement', 'after the entry of its fee', 'ledger_entries', 'after insert', "new.kind = 'fee'"),
  on('settlement', 'after it failed', 'operations', 'after update', resolves('failed', 'pending')),
  on('settlement', 'the commit', 'transfers', 'commit of update', becomes("'done'", "'submitted', 'broadcast'")),

  on('sealing', 'before the seal', 'audit_seals', 'before insert'),
  on('sealing', 'the commit', 'audit_seals', 'commit of insert'),
  on('sealing', 'before the seal of entries', 'ledger_seals', 'before insert'),
  on('sealing', 'the commit of a seal of entries', 'ledger_seals', 'commit of insert'),
]

function on(part: Part, name: string, table: string, moment: Trigger['moment'], when?: string): Point {
  return { part, name, at: when === undefined ? { table, moment } : { table, moment, when } }
}
