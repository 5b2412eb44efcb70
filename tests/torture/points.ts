import pg from 'pg'
import type { Stack } from './stack.ts'
import type { Wallet, WalletStop } from './wallet.ts'

export type Part = 'deposit' | 'transfer' | 'vote' | 'hand-over' | 'settlement' | 'sealing'

type Trigger = {
  table: string
  moment: 'before insert' | 'after insert' | 'before update' | 'after update' | 'commit of insert' | 'commit of update'
  /** SQL condition over `new` and `old`; any row when it is absent. */
  when?: string
}

/** A named moment at which a process can be killed. */
export type Point = { part: Part; name: string; at: Trigger | WalletStop }

const becomes = (phases: string, from: string) => `old.phase in (${from}) and new.phase in (${phases})`
const resolves = (status: string, from: string) => `old.status = '${from}' and new.status = '${status}'`
const votes = 'old.decision is null and new.decision is not null'

/** Before and after each step that moves money; "the commit" is when all is written and not yet committed. */
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
  on('vote', 'before the last one frees', 'operations', 'before update', resolves('pending', 'awaiting_approval')),
  on('vote', 'after the last one freed', 'transfers', 'after update', becomes("'queued'", "'waiting'")),
  on('vote', 'before a veto gives back', 'ledger_entries', 'before insert', "new.kind = 'release'"),
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

/** The first half of the key of the locks that pause transactions; the other half is the number of the point. */
const lockSpace = 7_370

/**
 * Creates a trigger at every point of the database: it takes a lock that is free unless the point is armed. The service
 * runs as released; nothing in it refers to the points.
 */
export async function installPoints(stack: Stack): Promise<void> {
  await stack.sql(`
    create schema torture;
    create function torture.pass() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_lock_shared(${lockSpace}, tg_argv[0]::int);
      perform pg_advisory_unlock_shared(${lockSpace}, tg_argv[0]::int);
      return new;
    end $$;`)
  for (const [n, { at }] of points.entries()) {
    if (typeof at === 'string') continue
    const [kind, moment] = at.moment.startsWith('commit of')
      ? ['constraint trigger', at.moment.replace('commit of', 'after')]
      : ['trigger', at.moment]
    const deferral = kind === 'trigger' ? '' : 'deferrable initially deferred'
    await stack.sql(
      `create ${kind} torture_${n} ${moment} on ${at.table} ${deferral} for each row
       when (${at.when ?? 'true'}) execute function torture.pass('${n}')`,
    )
  }
}

/** What waits at an armed point: a server process of the database, or a request to the wallet. */
export type Caught = { backendPid: number | null; toAddress: string | null }
export type Breakpoint = {
  /** null until something arrives. */
  caught(): Promise<Caught | null>
  /** Releases what waits, and everything that arrives later. */
  release(): Promise<void>
}

/** Arms the point: from now on everything that reaches it waits there. */
export async function setBreakpoint(point: Point, stack: Stack, wallet: Wallet): Promise<Breakpoint> {
  if (typeof point.at === 'string') {
    const trap = wallet.stopAt(point.at)
    return {
      caught: async () => trap.caught && { backendPid: null, ...trap.caught },
      release: async () => trap.release(),
    }
  }
  const key = [lockSpace, points.indexOf(point)]
  const holder = new pg.Client({ connectionString: stack.databaseUrl() })
  // The kill may have ended the database, and our lock with it.
  holder.on('error', () => {})
  await holder.connect()
  await holder.query('select pg_advisory_lock($1, $2)', key)
  return {
    async caught() {
      const { rows } = await holder.query<{ pid: number }>(
        `select pid from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and not granted limit 1`,
        key,
      )
      return rows[0] === undefined ? null : { backendPid: rows[0].pid, toAddress: null }
    },
    release: () => holder.end(),
  }
}
