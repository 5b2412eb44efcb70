import { CompiledQuery, type Kysely } from 'kysely'
import type pg from 'pg'
import PgBoss from 'pg-boss'
import type { Trx } from './client.ts'
import type { QueueName } from './queues.ts'

type SendOptions = { startAfterSeconds?: number; once?: string }

/** Jobs that are enqueued in the transaction of the change they follow from, and run at least once. */
export type JobQueue = {
  boss: PgBoss
  /** Enqueues a job in `trx`; with `once`, a job of that name that has not started yet stands for this one too. */
  enqueue(trx: Trx, name: QueueName, data: object, options?: SendOptions): Promise<void>
}

export function createJobQueue(pool: pg.Pool, onError: (error: Error) => void): JobQueue {
  const boss = new PgBoss({
    db: { executeSql: (text: string, values: unknown[]) => pool.query(text, values as unknown[]) },
    schema: 'pgboss',
    migrate: false,
    schedule: false,
    maintenanceIntervalSeconds: 300,
  })
  boss.on('error', onError)
  return {
    boss,
    async enqueue(trx, name, data, { startAfterSeconds, once } = {}) {
      await boss.send(name, data, {
        db: { executeSql: (text: string, values: unknown[]) => execute(trx, text, values) },
        retryLimit: 20,
        retryDelay: 1,
        retryBackoff: true,
        expireInSeconds: 120,
        ...(startAfterSeconds === undefined ? {} : { startAfter: startAfterSeconds }),
        ...(once === undefined ? {} : { singletonKey: once }),
      })
    },
  }
}

async function execute(trx: Kysely<never> | Trx, text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
  const { rows } = await (trx as Trx).executeQuery(CompiledQuery.raw(text, values))
  return { rows }
}
