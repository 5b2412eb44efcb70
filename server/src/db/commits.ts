import type { Db, Trx } from './client.ts'

/** The background tasks that a commit wakes. */
const wakeableTasks = [
  'deliver-transfers',
  'follow-changes',
  'screen',
  'tell-stops',
  'make-exports',
  'verify-ledgers',
  'run-backtests',
  'send-mails',
  'send-notifications',
  'seal-audit',
  'seal-ledger',
] as const
export type WakeableTask = (typeof wakeableTasks)[number]

export type Woken = ReadonlySet<WakeableTask>
type Note = (woken: Woken) => void

const listeners = new WeakMap<Db, Set<Note>>()
const wokenBy = new WeakMap<Trx, Set<WakeableTask>>()

/** Calls `note` after each transaction that this process commits through `inTransaction`, until the returned function is called. */
export function committedOn(db: Db, note: Note): () => void {
  const notes = listeners.get(db) ?? new Set()
  listeners.set(db, notes.add(note))
  return () => notes.delete(note)
}

/** Calls the listeners after a commit, with the tasks that it wakes. */
export function noteCommit(db: Db, woken: Woken): void {
  for (const note of listeners.get(db) ?? []) note(woken)
}

/** Begins to collect the tasks that a transaction wakes. */
export function collectWoken(trx: Trx): Woken {
  const woken = new Set<WakeableTask>()
  wokenBy.set(trx, woken)
  return woken
}

/**
 * Wakes a background task when `trx` is committed, so that it runs before its next poll. It is a hint: if it is missing, the
 * task only runs later.
 */
export function wake(trx: Trx, task: WakeableTask): void {
  wokenBy.get(trx)?.add(task)
}
