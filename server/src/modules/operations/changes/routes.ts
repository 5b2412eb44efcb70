import type { Static } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { changeCursorMinutesMax } from '../../../lib/limits.ts'
import { decodeChangeCursor, encodeChangeCursor } from './cursor.ts'
import { type ChangesRead, readChanges } from './queries.ts'
import { Changes, ChangesQuery } from './schema.ts'
import { createWaiters, type Waiter, type Waiters } from './waiters.ts'

export function changeRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Changes', { access: 'caller', scopes: { reads: 'read' } })
  const waiters = createWaiters(deps.db, deps.changeSignal)
  app.addHook('preClose', async () => waiters.stop())

  const answer = ({ items, place }: ChangesRead): Static<typeof Changes> => ({
    items: items ?? [],
    nextCursor: encodeChangeCursor(deps.sealer, { place, takenAt: deps.clock() }),
    reset: items === null,
  })

  api.get('listChanges', '/changes', {
    summary: 'Wait for changes',
    description:
      'Lists the objects that changed since `after` in the vaults of the caller, by ids and without content. ' +
      'Transfers, deposits, payouts, approval requests, addresses, folders, adjustments and holds are listed only if ' +
      'the caller may see them. With `wait` the answer comes at the first change, or empty at the end of the time. ' +
      'No change is left out: ask again with `nextCursor` at once. If `reset` is true, read the objects again. 429 ' +
      'with Retry-After when too many requests of the caller wait, 503 when too many requests wait in all.',
    errors: ['invalid_cursor', 'too_many_at_once', 'overloaded'],
    querystring: ChangesQuery,
    answers: { 200: Changes },
    handler: async (db, { caller, query, now }, { reply }) => {
      const { after, wait = 0 } = query
      const cursor = after === undefined ? null : decodeChangeCursor(deps.sealer, after)
      const isOld = cursor !== null && now.getTime() - cursor.takenAt.getTime() > changeCursorMinutesMax * 60_000
      const place = isOld ? null : (cursor?.place ?? null)
      if (place === null || wait === 0) {
        const read = await readChanges(db, caller.userId, place)
        return answer(isOld ? { ...read, items: null } : read)
      }
      const waiter = waiters.enter(caller.userId)
      reply.raw.once('close', () => waiter.end())
      try {
        const until = performance.now() + wait * 1_000
        return answer(await awaitChanges(waiters, waiter, until, () => readChanges(db, caller.userId, place)))
      } finally {
        waiter.leave()
      }
    },
  })
}

/**
 * Reads until changes are found or the time is over. A change during a read ends the next wait at once, so that no
 * change is missed.
 */
async function awaitChanges(
  waiters: Waiters,
  waiter: Waiter,
  until: number,
  read: () => Promise<ChangesRead>,
): Promise<ChangesRead> {
  for (;;) {
    const found = await waiters.inTurn(read)
    if (found.items === null || found.items.length > 0) return found
    waiter.vaultIds = new Set(found.vaultIds)
    if (!(await waiter.next(until))) return found
  }
}
