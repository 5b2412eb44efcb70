import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { unavailable } from '../lib/errors.ts'
import { readinessTimeoutMilliseconds } from '../lib/limits.ts'
import { type App, route } from './route.ts'
import { Closed } from './schema.ts'

const Status = Closed({ status: Type.Literal('ok', { examples: ['ok'] }) })

/** What a balancer or an orchestrator asks: is the process up, and can it serve. */
export function healthRoutes(app: App, { db, log }: Deps): void {
  const healthz = route({
    operationId: 'getHealth',
    summary: 'Whether the process is up',
    tag: 'Service',
    access: 'public',
    answers: { 200: Status },
  })
  app.get('/healthz', { ...healthz, config: { ...healthz.config, rateLimit: false } }, async () => ({
    status: 'ok' as const,
  }))

  const readyz = route({
    operationId: 'getReadiness',
    summary: 'Whether the service can answer requests: its database answers within a second',
    tag: 'Service',
    access: 'public',
    answers: { 200: Status },
  })
  app.get('/readyz', { ...readyz, config: { ...readyz.config, rateLimit: false } }, async () => {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the database did not answer in time')), readinessTimeoutMilliseconds)
    })
    try {
      await Promise.race([sql`select 1`.execute(db), timeout])
    } catch (error) {
      log.warn({ err: error }, 'not ready')
      throw unavailable('The database does not answer right now', 2)
    } finally {
      clearTimeout(timer)
    }
    return { status: 'ok' as const }
  })
}
