import { Type } from 'typebox'
import { memberOf } from '../../server/src/access/caller.ts'
import { createApp } from '../../server/src/app.ts'
import { readConfig } from '../../server/src/config/config.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { inTransaction } from '../../server/src/db/transaction.ts'
import { route } from '../../server/src/http/route.ts'
import { Closed, pathParameters } from '../../server/src/http/schema.ts'
import { startTasks } from '../../server/src/jobs/tasks.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { createLogger } from '../../server/src/logger.ts'
import { postEntries, posting } from '../../server/src/modules/money/ledger/postings.ts'
import { openDeps } from '../../server/src/start.ts'

/**
 * Serves one node in its own process, with an additional route: a bare posting behind the same guard. The difference is
 * the cost of the rest of a transfer.
 */
async function serve(): Promise<void> {
  const config = readConfig()
  const log = createLogger(config.logLevel)
  await migrate(config.databaseUrl!)
  const { deps } = await openDeps(config, config.databaseUrl!, log, () => new Date())
  const app = await createApp(deps)
  app.post(
    '/bench/vaults/:code/postings',
    route({
      operationId: 'benchPosting',
      summary: 'A bare reservation',
      tag: 'Bench',
      access: 'member',
      params: Closed({ code: pathParameters.code }),
      body: Type.Object({ addressId: Type.String(), tokenId: Type.String() }),
      answers: { 200: Closed({ operationId: Type.String() }) },
    }),
    async (request) => {
      const { addressId, tokenId } = request.body
      const now = deps.clock()
      const subject = { vaultId: memberOf(request).vault.id, addressId, tokenId, operationId: newId(now), amount: 1n }
      await inTransaction(deps.db, (trx) => postEntries(trx, [posting('reserve', subject)], now))
      return { operationId: subject.operationId }
    },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  startTasks(deps)
  process.send?.(app.server.address())
  // `exit` lets --cpu-prof write its profile, for which the parent waits.
  process.once('SIGTERM', () => process.exit(0))
  process.once('disconnect', () => process.exit(0))
}

await serve()
