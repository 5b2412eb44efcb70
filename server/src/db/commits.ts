import type { Db } from './client.ts'

const listeners = new WeakMap<Db, Set<() => void>>()

/** Calls `note` after each transaction that this process commits through `inTransaction`, until the result is called. */
export function committedOn(db: Db, note: () => void): () => void {
  const own = listeners.get(db) ?? new Set()
  listeners.set(db, own.add(note))
  return () => own.delete(note)
}

/** Called after a commit. */
export function noteCommit(db: Db): void {
  for (const note of listeners.get(db) ?? []) note()
}
