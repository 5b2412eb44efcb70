import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { heartbeatMilliseconds } from '../lib/limits.ts'
import type { Db } from './client.ts'
import type { WriteGate } from './write-gate.ts'

/** Commits a row every few seconds, to know that the database takes changes and that standbys confirm them. */
export type Heartbeat = {
  /** Starts the heartbeats. The returned function stops them. */
  start(): () => Promise<void>
  /** Commits a heartbeat if the last confirmed one is not recent. @throws when changes are not confirmed */
  assertConfirmed(): Promise<void>
}

export function createHeartbeat(db: Db, gate: WriteGate): Heartbeat {
  const { pause, pauseWhileRefused } = heartbeatMilliseconds
  const node = randomUUID()
  let confirmed: { at: Date; since: number } | null = null
  let beating: Promise<void> | null = null

  // A row is visible even if its wait for a standby was cancelled, so it also holds the time of the last confirmed heartbeat.
  const commit = async () => {
    const { rows } = await sql<{ at: Date }>`/* heartbeat */
      with gone as (delete from heartbeats where at < now() - interval '1 day' and node <> ${node})
      insert into heartbeats (node) values (${node})
      on conflict (node) do update
        set at = now(), confirmed_at = coalesce(${confirmed?.at ?? null}::timestamptz, heartbeats.confirmed_at)
      returning at`.execute(db)
    confirmed = { at: rows[0]!.at, since: performance.now() }
    gate.open()
  }
  const beat = () => {
    beating ??= commit().finally(() => {
      beating = null
    })
    return beating
  }

  return {
    start() {
      let isStopped = false
      let timer: NodeJS.Timeout | undefined
      const run = async () => {
        // A failure shows in the age of the last confirmed heartbeat.
        await beat().catch(() => {})
        if (!isStopped) timer = setTimeout(run, gate.isOpen() ? pause : pauseWhileRefused)
      }
      let running = run()
      gate.onChange((isOpen) => {
        if (isOpen || isStopped || beating !== null) return
        clearTimeout(timer)
        running = run()
      })
      return async () => {
        isStopped = true
        clearTimeout(timer)
        await running
        await beating?.catch(() => {})
      }
    },
    async assertConfirmed() {
      if (gate.isOpen() && confirmed !== null && performance.now() - confirmed.since < heartbeatMilliseconds.stale)
        return
      await beat()
    },
  }
}
