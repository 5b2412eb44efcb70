import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, ok } from '../../../http/mutate.ts'
import { trimDecimal } from '../../../lib/money.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { parseBounds } from '../../../lib/period.ts'
import { findToken } from '../tokens/queries.ts'
import { confirmHeldRate, recordRate, rejectHeldRate } from './actions.ts'
import { toHeldRate, toTokenRate } from './present.ts'
import { listHeldRates, listTokenRates } from './queries.ts'
import { HeldRate, HeldRateQuery, RateBody, TokenRate, TokenRateQuery } from './schema.ts'

export function rateRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Registry', { access: 'platform', scopes: { reads: 'read' } })

  api.post('recordTokenRate', '/tokens/:id/rates', {
    summary: 'Record a USD rate',
    description:
      'For platform administrators. An operation uses the newest rate that is at most 15 minutes old. A rate that ' +
      'differs from an earlier one by more than the factor `RATE_JUMP_FACTOR` is held back: the answer is 202, and no ' +
      'operation uses the rate until another platform administrator confirms it. Outside demo mode the first rate of ' +
      'a token is held back, too, and so is every rate of a token that a vault with governance uses. A token has one ' +
      'rate per moment: 409 for a second rate.',
    body: RateBody,
    answers: { 201: TokenRate, 202: HeldRate },
    errors: [404, 'already_exists'],
    handler: async (trx, { params, body, ...by }) => {
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
      return toTokenRate({ token_id: tokenId, usd_rate: usdRate, as_of: asOf, source, created_at: by.now })
    },
  })

  api.list('listTokenRates', '/tokens/:id/rates', {
    summary: 'List the USD rates of a token',
    description:
      'The recorded rates of a token, newest first by `asOf`; `from` and `to` bound `asOf`. Rates that are held back ' +
      'are left out.',
    access: 'caller',
    querystring: TokenRateQuery,
    item: TokenRate,
    errors: [404],
    load: async (db, { params, query }, page) => {
      orNotFound(await findToken(db, params.id), 'Token')
      return listTokenRates(db, params.id, parseBounds(query), page)
    },
    present: toTokenRate,
    // A token has one rate per moment, so the time alone is the position. The id is needed only for the form of a cursor.
    position: ({ as_of, token_id }) => ({ createdAt: as_of, id: token_id }),
  })

  api.list('listHeldRates', '/held-rates', {
    summary: 'List held rates',
    description:
      'Rates that were held back: rates that jumped, first rates of a token, and rates of a token that a vault with ' +
      'governance uses. For platform administrators, newest first; `status=held` lists only rates that wait for a decision.',
    querystring: HeldRateQuery,
    item: HeldRate,
    load: (db, { query }, page) => listHeldRates(db, query, page),
    present: toHeldRate,
  })

  api.post('confirmHeldRate', '/held-rates/:id/confirm', {
    summary: 'Confirm a held rate',
    description:
      'For platform administrators, except the administrator who recorded the rate. The rate keeps its `asOf`, and later rates ' +
      'are compared with it.',
    answers: { 200: HeldRate },
    errors: [404, 'other_person_required', 'wrong_state'],
    handler: async (trx, { params, ...by }) => ok(toHeldRate(await confirmHeldRate(trx, params.id, by))),
  })

  api.post('rejectHeldRate', '/held-rates/:id/reject', {
    summary: 'Reject a held rate',
    description:
      'For platform administrators, including the administrator who recorded the rate. The rate is never used.',
    answers: { 200: HeldRate },
    errors: [404, 'wrong_state'],
    handler: async (trx, { params, ...by }) => ok(toHeldRate(await rejectHeldRate(trx, params.id, by))),
  })
}
