import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

export type Statement = { text: string; values: unknown[] }

/**
 * Records the statements of the service during one request: the duration of an answer proves nothing in a test, while its
 * statements do. Requests may run at the same time, as do background tasks.
 */
export function recordStatements(): {
  during<Result>(work: () => PromiseLike<Result>): Promise<{ result: Result; statements: Statement[] }>
  stop(): void
} {
  const current = new AsyncLocalStorage<Statement[]>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function recorded(this: pg.Client, ...parameters: unknown[]) {
    current.getStore()?.push(toStatement(parameters))
    return Reflect.apply(query, this, parameters)
  } as typeof query
  return {
    async during<Result>(work: () => PromiseLike<Result>) {
      const statements: Statement[] = []
      // Fastify's `inject` starts when `then` is called, which `await` does outside of the async context.
      const result = await current.run(
        statements,
        () => new Promise<Result>((resolve, reject) => void work().then(resolve, reject)),
      )
      return { result, statements }
    },
    stop() {
      pg.Client.prototype.query = query
    },
  }
}

function toStatement([first, second]: unknown[]): Statement {
  if (typeof first === 'string') return { text: first, values: Array.isArray(second) ? second : [] }
  const { text, values } = first as { text: string; values?: unknown[] }
  return { text, values: values ?? [] }
}
