import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import type { ChangeSignal } from './db/change-signal.ts'
import type { Db } from './db/client.ts'
import type { SlowReads } from './db/slow-reads.ts'
import type { SealKey } from './lib/seal-key.ts'
import type { Sealer } from './lib/secrets.ts'

/** What the composition root passes to every module. */
export type Deps = {
  config: Config
  db: Db
  /** The URLs of the databases, for threads that open connections of their own. */
  databaseUrl: string
  slowReads: SlowReads
  changeSignal: ChangeSignal
  sealer: Sealer
  /** Signs the seals of the record and of the ledger. */
  sealKey: SealKey
  log: Logger
  clock: () => Date
  /** Connections of the pool of this node: in use, idle, and how many requests wait for one. */
  connections: () => { used: number; idle: number; waiting: number }
  /** The origin that people use; known only after listening when PORT is 0. */
  publicOrigin: () => string
}
