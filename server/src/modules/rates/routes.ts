import { callerOf } from '../../access/caller.ts'
import type { Deps } from '../../deps.ts'
import { created, mutate } from '../../http/mutate.ts'
import { type App, route } from '../../http/route.ts'
import { IdParams, Ref } from '../../http/schema.ts'
import { recordRate } from './actions.ts'
import { RateBody, TokenRate } from './schema.ts'

export function rateRoutes(app: App, deps: Deps): void {
  app.post(
    '/tokens/:id/rates',
    route({
      operationId: 'recordTokenRate',
      summary: 'Record a USD rate by hand',
      description: 'Operations snapshot the newest rate that is not older than 15 minutes.',
      tag: 'Registry',
      access: 'platform',
      params: IdParams,
      body: RateBody,
      answers: { 201: Ref(TokenRate) },
      errors: [404],
    }),
    async (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        const { usdRate, source } = request.body
        const rate = { tokenId: request.params.id, usdRate, asOf: new Date(request.body.asOf), source }
        await recordRate(trx, rate, callerOf(request).userId, now)
        return created({ ...rate, asOf: rate.asOf.toISOString(), createdAt: now.toISOString() })
      }),
  )
}
