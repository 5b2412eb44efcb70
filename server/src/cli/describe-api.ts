import { pino } from 'pino'
import { createApp } from '../app.ts'
import { readConfig } from '../config/config.ts'
import { openDatabase } from '../db/client.ts'
import { openApiText } from '../http/openapi.ts'
import { createSealKey } from '../lib/seal-key.ts'
import { createSealer } from '../lib/secrets.ts'

/** Returns the OpenAPI document of this version as text. It does not connect to a database. */
export async function describeApi(): Promise<string> {
  const config = readConfig({ DEMO: 'true' })
  const { db } = openDatabase({ url: 'postgresql://nobody@localhost/none', onError: () => {} })
  const app = await createApp({
    config,
    db,
    changeSignal: { watch: () => () => {}, onWake: () => () => {}, isHeard: () => true, close: async () => {} },
    heartbeat: { start: () => async () => {}, assertConfirmed: async () => {} },
    databaseUrl: '',
    slowReads: { db, inTurn: (_, read) => read(db), forReports: async () => db, onReplica: (read) => read(db) },
    sealer: createSealer('never used to seal anything'),
    sealKey: createSealKey('never used to sign anything'),
    log: pino({ level: 'silent' }),
    clock: () => new Date(),
    connections: () => ({ used: 0, idle: 0, waiting: 0 }),
    publicOrigin: () => 'http://localhost',
  })
  await app.ready()
  try {
    return openApiText(app)
  } finally {
    await app.close()
    await db.destroy()
  }
}
