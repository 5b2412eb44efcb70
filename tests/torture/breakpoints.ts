import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export type Trigger = {
  table: string
  moment: 'before insert' | 'after insert' | 'before update' | 'after update' | 'commit of insert' | 'commit of update'
  /** SQL condition over `new` and `old`; any row when it is absent. */
  when?: string
}

/** A named moment at which a process can be killed: a trigger of a database, or a request that is held back. */
export type Breakable<Part extends string, At> = { part: Part; name: string; at: At }

/** Holds one request back. `caught` is null until a request waits, and then has the recipient of that request, if it names one. */
export type Trap = { caught: { toAddress: string | null } | null; release(): void }

const pointMillisecondsMax = 30_000
/** It waits at the point until it is released, so that a late look finds it, too. */
const pollMilliseconds = 20

/** The first half of the key of the locks that pause transactions; the other half is the number of the point. */
const lockSpace = 7_370

/**
 * Creates a trigger at every point of the database: it takes a lock that is free unless the point is armed. The service
 * runs as released; nothing in it refers to the points. A point without a trigger is null.
 */
export async function installTriggers(
  triggers: (Trigger | null)[],
  sql: (text: string) => Promise<unknown>,
): Promise<void> {
  await sql(`
    create schema torture;
    create function torture.pass() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_lock_shared(${lockSpace}, tg_argv[0]::int);
      perform pg_advisory_unlock_shared(${lockSpace}, tg_argv[0]::int);
      return new;
    end $$;`)
  for (const [n, at] of triggers.entries()) {
    if (at === null) continue
    const [kind, moment] = at.moment.startsWith('commit of')
      ? ['constraint trigger', at.moment.replace('commit of', 'after')]
      : ['trigger', at.moment]
    const deferral = kind === 'trigger' ? '' : 'deferrable initially deferred'
    await sql(
      `create ${kind} torture_${n} ${moment} on ${at.table} ${deferral} for each row
       when (${at.when ?? 'true'}) execute function torture.pass('${n}')`,
    )
  }
}

/** The process or request that waits at an armed point: a server process of the database, or a request to the wallet. */
export type Caught = { backendPid: number | null; toAddress: string | null }
export type Breakpoint = {
  /** null until something arrives. */
  caught(): Promise<Caught | null>
  /** Releases what waits, and everything that arrives later. */
  release(): Promise<void>
}

/** Arms the trigger with this number: from now on everything that reaches it waits there. */
export async function setTrigger(number: number, databaseUrl: string): Promise<Breakpoint> {
  const key = [lockSpace, number]
  const holder = new pg.Client({ connectionString: databaseUrl })
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

export function breakpointOf(trap: Trap): Breakpoint {
  return {
    caught: async () => trap.caught && { backendPid: null, ...trap.caught },
    release: async () => trap.release(),
  }
}

/** @throws when nothing comes to the point, or `assertNoFault` does */
export async function waitUntilCaught(
  breakpoint: Breakpoint,
  name: string,
  assertNoFault: () => void,
): Promise<Caught> {
  const deadline = Date.now() + pointMillisecondsMax
  while (Date.now() < deadline) {
    const caught = await breakpoint.caught()
    if (caught !== null) return caught
    assertNoFault()
    await sleep(pollMilliseconds)
  }
  await breakpoint.release()
  throw new Error(`Nothing came to the point ${name}`)
}
