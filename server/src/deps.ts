import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import type { ChangeSignal } from './db/change-signal.ts'
import type { Db } from './db/client.ts'
import type { Heartbeat } from './db/heartbeat.ts'
import type { SlowReads } from './db/slow-reads.ts'
import type { SealKey } from './lib/seal-key.ts'
import type { Sealer } from './lib/secrets.ts'

/** The dependencies that the composition root passes to every module. */
export type Deps = {
  config: Config
  db: Db
  /** The URLs of the databases, for threads that open connections of their own. */
  databaseUrl: string
  slowReads: SlowReads
  changeSignal: ChangeSignal
  /** Says whether the database takes changes and standbys confirm them. */
  heartbeat: Heartbeat
  sealer: Sealer
  /** Signs the seals of the record and of the ledger. */
  sealKey: SealKey
  log: Logger
  clock: () => Date
  /** Returns the connections of the pool of this node: the numbers of used and idle connections, and of waiting requests. */
  connections: () => { used: number; idle: number; waiting: number }
  /** Returns the origin of the pages; when PORT is 0, it is known only after the service listens. */
  publicOrigin: () => string
}
