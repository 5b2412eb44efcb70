import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, created, ok } from '../../../http/mutate.ts'
import { IdParams } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { trimDecimal } from '../../../lib/money.ts'
import { parseBounds } from '../../../lib/period.ts'
import { findToken } from '../tokens/queries.ts'
import { confirmHeldRate, recordRate, rejectHeldRate } from './actions.ts'
import { toHeldRate, toTokenRate } from './present.ts'
import { listHeldRates, listTokenRates } from './queries.ts'
import { HeldRate, HeldRateQuery, RateBody, TokenRate, TokenRateQuery } from './schema.ts'

const decision = { access: 'platform', params: IdParams, answers: { 200: HeldRate } } as const

export function rateRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Registry')

  api.post(
    '/tokens/:id/rates',
    {
      operationId: 'recordTokenRate',
      summary: 'Record a USD rate',
      description:
        'For platform administrators. An operation uses the newest rate that is at most 15 minutes old. A rate that ' +
        'differs from an earlier one by more than the factor `RATE_JUMP_FACTOR` is held back: the answer is 202, and no ' +
        'operation uses the rate until another platform administrator confirms it. Outside demo mode the first rate of ' +
        'a token is held back, too, and so is every rate of a token that a vault with governance uses. A token has one ' +
        'rate per moment: a second one is a 409.',
      access: 'platform',
      params: IdParams,
      body: RateBody,
      answers: { 201: TokenRate, 202: HeldRate },
      errors: [404, 'already_exists'],
    },
    async (trx, { params, body, ...by }) => {
      const rate = {
        tokenId: params.id,
        usdRate: trimDecimal(body.usdRate),
        asOf: new Date(body.asOf),
        source: body.source,
      }
      const { rateJumpFactorHundredths: jumpFactorHundredths, demo } = deps.config
      const held = await recordRate(trx, rate, { jumpFactorHundredths, holdsFirst: !demo }, by)
      if (held !== null) return accepted(toHeldRate(held))
      const { tokenId, usdRate, asOf, source } = rate
      return created(toTokenRate({ token_id: tokenId, usd_rate: usdRate, as_of: asOf, source, created_at: by.now }))
    },
  )

  api.list(
    '/tokens/:id/rates',
    {
      operationId: 'listTokenRates',
      summary: 'List the USD rates of a token',
      description:
        'The recorded rates of a token, newest first by `asOf`; `from` and `to` bound `asOf`. Rates that are held back ' +
        'are not among them.',
      access: 'caller',
      params: IdParams,
      querystring: TokenRateQuery,
      item: TokenRate,
      errors: [404],
    },
    async (db, { params, query }, page) => {
      if ((await findToken(db, params.id)) === null) throw notFound('Token')
      return listTokenRates(db, params.id, parseBounds(query), page)
    },
    toTokenRate,
    // A token has one rate at a time, so the time alone is the position; a cursor holds an id as well.
    ({ as_of, token_id }) => ({ createdAt: as_of, id: token_id }),
  )

  api.list(
    '/held-rates',
    {
      operationId: 'listHeldRates',
      summary: 'List held rates',
      description:
        'Rates that were held back because they jumped. For platform administrators, newest first; `status=held` lists ' +
        'those that wait for a decision.',
      access: 'platform',
      querystring: HeldRateQuery,
      item: HeldRate,
    },
    (db, { query }, page) => listHeldRates(db, query, page),
    toHeldRate,
  )

  api.post(
    '/held-rates/:id/confirm',
    {
      operationId: 'confirmHeldRate',
      summary: 'Confirm a held rate',
      description:
        'For platform administrators, except the one who recorded the rate. The rate keeps its `asOf`, and later rates ' +
        'are compared with it.',
      ...decision,
      errors: [404, 'other_person_required', 'wrong_state'],
    },
    async (trx, { params, ...by }) => ok(toHeldRate(await confirmHeldRate(trx, params.id, by))),
  )

  api.post(
    '/held-rates/:id/reject',
    {
      operationId: 'rejectHeldRate',
      summary: 'Reject a held rate',
      description: 'For platform administrators, the one who recorded the rate included. The rate is never used.',
      ...decision,
      errors: [404, 'wrong_state'],
    },
    async (trx, { params, ...by }) => ok(toHeldRate(await rejectHeldRate(trx, params.id, by))),
  )
}
