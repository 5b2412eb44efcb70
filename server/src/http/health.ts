import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { thisVersion } from '../config/version.ts'
import type { Db } from '../db/client.ts'
import type { Deps } from '../deps.ts'
import { countLines } from '../lib/counted-line.ts'
import { unavailable } from '../lib/errors.ts'
import { readinessTimeoutMilliseconds } from '../lib/limits.ts'
import { type App, endpoints } from './endpoints.ts'
import { Closed, described, Enum } from './schema.ts'

const Status = Closed({
  status: described(Type.Literal('ok', { examples: ['ok'] }), 'Always `ok`; otherwise the answer is a 503.'),
})
const isUp: Static<typeof Status> = { status: 'ok' }
const Health = Closed({
  ...Status.properties,
  version: described(Type.String({ examples: ['1.4.0'] }), 'Version of the service that this node runs.'),
})
const health: Static<typeof Health> = { ...isUp, version: thisVersion.version }
const Readiness = Closed({
  ...Status.properties,
  changes: described(
    Enum(['heard', 'polled']),
    '`heard`: the commits of other nodes notify this node and start its tasks. `polled`: they do not, or not yet, and ' +
      'this node looks for work at intervals.',
  ),
})

const ReadinessQuery = Closed({
  write: Type.Optional(
    described(Type.String({ maxLength: 5, examples: ['true'] }), 'With any value, changes are checked too.'),
  ),
})

/** Registers the probes for a load balancer or an orchestrator: if the process runs, and if it can serve requests. */
export function healthRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Service', { access: 'public' })
  const noteNotReady = countLines<unknown>({
    begun: (err) => deps.log.warn({ err }, 'not ready'),
    goesOn: (probes) => deps.log.warn({ probes }, 'not ready'),
    ended: (probes) => deps.log.info({ probes }, 'no probe finds this node not ready any more'),
  })

  api.get('getHealth', '/healthz', {
    summary: 'Check that the process is running',
    description: 'Answers without asking the database.',
    answers: { 200: Health },
    rateLimit: false,
    handler: async () => health,
  })

  api.get('getReadiness', '/readyz', {
    summary: 'Check that the service can answer requests',
    description:
      '503 when the database does not answer within a second. With `write`, also when changes are not confirmed, for ' +
      'example because no standby does; reads are answered meanwhile.',
    querystring: ReadinessQuery,
    answers: { 200: Readiness },
    rateLimit: false,
    handler: async (db, { query }) => {
      const answer = query.write === undefined ? readsAnswer(db) : deps.heartbeat.assertConfirmed()
      await inTime(answer).catch((error: unknown) => {
        noteNotReady(error)
        const text = query.write === undefined ? 'does not answer' : 'does not confirm changes'
        throw unavailable('database_unreachable', `The database ${text} right now`, 2)
      })
      return { ...isUp, changes: deps.changeSignal.isHeard() ? ('heard' as const) : ('polled' as const) }
    },
  })
}

const readsAnswer = (db: Db) => sql`select 1`.execute(db)

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the database did not answer in time')), readinessTimeoutMilliseconds)
  })
  try {
    await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
