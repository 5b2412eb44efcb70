import { callerOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { accepted, created, mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { IdParams, PageOf, Ref } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { confirmHeldRate, recordRate, rejectHeldRate } from './actions.ts'
import { toHeldRate } from './present.ts'
import { type HeldRateRow, listHeldRates } from './queries.ts'
import { HeldRate, HeldRateQuery, RateBody, TokenRate } from './schema.ts'

const tag = 'Registry'

export function rateRoutes(app: App, deps: Deps): void {
  app.post(
    '/tokens/:id/rates',
    route({
      operationId: 'recordTokenRate',
      summary: 'Record a USD rate by hand',
      description:
        'Operations snapshot the newest rate that is not older than 15 minutes. A rate that differs from an earlier one by more than `RATE_JUMP_FACTOR` is held back: the answer is 202, and no operation uses the rate until another platform administrator confirms it. Outside demo mode the first rate of a token is held back, too. A token has one rate at a moment: a second one is a 409.',
      tag,
      access: 'platform',
      params: IdParams,
      body: RateBody,
      answers: { 201: Ref(TokenRate), 202: Ref(HeldRate) },
      errors: [404, 409],
    }),
    async (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        const { usdRate, source } = request.body
        const rate = { tokenId: request.params.id, usdRate, asOf: new Date(request.body.asOf), source }
        const { rateJumpFactorHundredths: jumpFactorHundredths, demo } = deps.config
        const actorId = callerOf(request).userId
        const held = await recordRate(trx, rate, { jumpFactorHundredths, holdsFirst: !demo, actorId, now })
        if (held !== null) return accepted(toHeldRate(held))
        return created({ ...rate, asOf: rate.asOf.toISOString(), createdAt: now.toISOString() })
      }),
  )

  app.get(
    '/held-rates',
    route({
      operationId: 'listHeldRates',
      summary: 'List the rates that were held back',
      description: 'Newest first; `status=held` lists those that wait for a decision.',
      tag,
      access: 'platform',
      querystring: HeldRateQuery,
      answers: { 200: PageOf(Ref(HeldRate)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      const position = (row: HeldRateRow) => ({ createdAt: row.created_at, id: row.id })
      return toPage(await listHeldRates(deps.db, request.query, { after, limit }), limit, position, toHeldRate)
    },
  )

  for (const { verb, decide, ...words } of decisions) {
    app.post(
      `/held-rates/:id/${verb}`,
      route({
        operationId: `${verb}HeldRate`,
        ...words,
        tag,
        access: 'platform',
        params: IdParams,
        answers: { 200: Ref(HeldRate) },
        errors: [404, 409],
      }),
      async (request, reply) =>
        mutate(deps, request, reply, async (trx) => {
          const by = { actorId: callerOf(request).userId, now: deps.clock() }
          return ok(toHeldRate(await decide(trx, request.params.id, by)))
        }),
    )
  }
}

const decisions = [
  {
    verb: 'confirm',
    decide: confirmHeldRate,
    summary: 'Confirm a rate that is held back',
    description:
      'By another platform administrator than the one who recorded it. The rate counts from then on with the `asOf` that it has, and later rates are compared with it.',
  },
  { verb: 'reject', decide: rejectHeldRate, summary: 'Reject a rate that is held back' },
]
