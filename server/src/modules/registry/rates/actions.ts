import { sql } from 'kysely'
import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { findToken, listTokensOfCodes, listVaultIdsUsingToken, type TokenRow } from '../tokens/queries.ts'
import { isUsedUnderGovernance } from '../tokens/withheld.ts'
import { differ, findJump } from './jump.ts'
import {
  findBenchmarks,
  findHeldByProvider,
  findHeldRate,
  type HeldRateRow,
  hasRateAt,
  lockRates,
  type Rate,
} from './queries.ts'

type RateRules = {
  /** A rate is held when it differs from an earlier rate by more than this factor. 200 means more than twice or less than half. */
  jumpFactorHundredths: number
  /** True if the first rate of a token is held when a person records it. */
  holdsFirst: boolean
}

/**
 * Records a rate by hand. A rate that jumps is held: no operation uses it until a second person confirms it. Every rate
 * of a token that a vault with governance uses is held too. Returns the held rate, or null if the rate is in effect.
 * @throws 400 for a rate of 0 or from the future, 404 for an unknown token, 409 when the token has a rate of that time
 */
export async function recordRate(
  trx: Trx,
  rate: Rate,
  rules: RateRules,
  { caller, now }: ByCaller,
): Promise<HeldRateRow | null> {
  if (/^[0.]+$/.test(rate.usdRate)) throw badRequest('usdRate', 'must be greater than 0')
  if (rate.asOf > now) throw badRequest('asOf', 'must not lie in the future')
  const token = orNotFound(await findToken(trx, rate.tokenId), 'Token')
  await lockRates(trx)
  if (await hasRateAt(trx, rate)) throw conflict('already_exists', 'The token already has a rate of this time')
  const benchmarks = (await findBenchmarks(trx, [token.id], now)).get(token.id) ?? null
  const jumpsFrom = findJump(rate.usdRate, benchmarks, rules.jumpFactorHundredths)
  const isGoverned = await isUsedUnderGovernance(trx, token.id)
  const held = (cause: HoldCause) => holdRate(trx, token, rate, { jumpsFrom, cause, actorId: caller.userId, now })
  if (jumpsFrom !== null) return held('jump')
  if (benchmarks === null && rules.holdsFirst) return held('first')
  if (isGoverned) return held('governed')
  await insertRates(trx, [rate], { confirmedById: null, now })
  await announceRate(trx, token, rate, { verb: 'recorded', before: benchmarks?.newest, actorId: caller.userId, now })
  return null
}

/**
 * Records the rates of the provider by token code: every token of that code gets the rate, on any network. Rates that
 * jump are held. While a rate is held, the same rate is not recorded again. Once the provider reports a different rate,
 * the held rate can no longer be confirmed.
 */
export async function recordProviderRates(
  trx: Trx,
  usdRateByCode: Map<string, string>,
  { now, jumpFactorHundredths: factor }: Pick<RateRules, 'jumpFactorHundredths'> & { now: Date },
): Promise<void> {
  const tokens = await listTokensOfCodes(trx, [...usdRateByCode.keys()])
  if (tokens.length === 0) return
  const tokenIds = tokens.map(({ id }) => id)
  const benchmarks = await findBenchmarks(trx, tokenIds, now)
  const heldOf = await findHeldByProvider(trx, tokenIds)
  const accepted: Rate[] = []
  for (const { id: tokenId, code } of tokens) {
    const rate = { tokenId, usdRate: usdRateByCode.get(code)!, asOf: now, source: 'provider' }
    const jumpsFrom = findJump(rate.usdRate, benchmarks.get(tokenId) ?? null, factor)
    const held = heldOf.get(tokenId)
    const repeats = held !== undefined && !differ(rate.usdRate, held.usd_rate, factor)
    if (jumpsFrom !== null && repeats) continue
    if (held !== undefined) await closeHeldRate(trx, held.id, { status: 'superseded', decidedById: null, now })
    if (jumpsFrom === null) accepted.push(rate)
    else await holdRate(trx, (await findToken(trx, tokenId))!, rate, { jumpsFrom, cause: 'jump', actorId: null, now })
  }
  await insertRates(trx, accepted, { confirmedById: null, now })
}

/**
 * Confirms a held rate. Later rates are compared with it.
 * @throws 403 for the person who recorded it, 404, 409 when it was already decided or the token has a rate of that time
 */
export async function confirmHeldRate(trx: Trx, id: string, by: ByCaller): Promise<HeldRateRow> {
  const { caller, now } = by
  await lockRates(trx)
  const held = await getHeldRate(trx, id)
  if (held.created_by_id === caller.userId) {
    throw forbidden(
      'other_person_required',
      'A held rate must be confirmed by a platform administrator other than the one who recorded it',
    )
  }
  await closeHeldRate(trx, id, { status: 'confirmed', decidedById: caller.userId, now })
  const rate = { tokenId: held.token_id, usdRate: held.usd_rate, asOf: held.as_of, source: held.source }
  if ((await insertRates(trx, [rate], { confirmedById: caller.userId, now })) === 0) {
    throw conflict('already_exists', 'The token already has a rate of this time')
  }
  return announceDecision(trx, held, 'confirmed', by)
}

/** Discards a held rate. The person who recorded it may discard it, too. @throws 404, 409 when it was already decided */
export async function rejectHeldRate(trx: Trx, id: string, by: ByCaller): Promise<HeldRateRow> {
  await lockRates(trx)
  const held = await getHeldRate(trx, id)
  await closeHeldRate(trx, id, { status: 'rejected', decidedById: by.caller.userId, now: by.now })
  return announceDecision(trx, held, 'rejected', by)
}

async function getHeldRate(trx: Trx, id: string): Promise<HeldRateRow> {
  return orNotFound(await findHeldRate(trx, id), 'Held rate')
}

/** Inserts rates and returns the number of new rates. A rate of a token and time that exists already is left out. */
async function insertRates(
  trx: Trx,
  rates: Rate[],
  { confirmedById, now }: { confirmedById: string | null; now: Date },
): Promise<number> {
  const { rows } = await sql`
    insert into token_rates (token_id, as_of, source, usd_rate, confirmed_by_id, created_at)
    select token_id, as_of, source, usd_rate, ${confirmedById}, ${now} from unnest(
      ${rates.map((rate) => rate.tokenId)}::text[], ${rates.map((rate) => rate.asOf)}::timestamptz[],
      ${rates.map((rate) => rate.source)}::text[], ${rates.map((rate) => rate.usdRate)}::numeric[]
    ) as t(token_id, as_of, source, usd_rate)
    on conflict do nothing returning 1`.execute(trx)
  return rows.length
}

async function holdRate(
  trx: Trx,
  token: TokenRow,
  rate: Rate,
  { jumpsFrom, cause, actorId, now }: { jumpsFrom: string | null; cause: HoldCause; actorId: string | null; now: Date },
): Promise<HeldRateRow> {
  const id = newId(now)
  await trx
    .insertInto('held_rates')
    .values({
      id,
      token_id: rate.tokenId,
      as_of: rate.asOf,
      source: rate.source,
      usd_rate: rate.usdRate,
      compared_usd_rate: jumpsFrom,
      status: 'held',
      created_by_id: actorId,
      created_at: now,
    })
    .execute()
  await announceRate(trx, token, rate, { verb: 'held', cause, before: jumpsFrom, heldRateId: id, actorId, now })
  return (await findHeldRate(trx, id))!
}

/** @throws 409 when the rate was already decided */
async function closeHeldRate(
  trx: Trx,
  id: string,
  { status, decidedById, now }: { status: HeldRateRow['status']; decidedById: string | null; now: Date },
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('held_rates')
    .set({ status, decided_by_id: decidedById, decided_at: now })
    .where('id', '=', id)
    .where('status', '=', 'held')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw conflict('wrong_state', 'The rate was already decided')
}

async function announceDecision(
  trx: Trx,
  held: HeldRateRow,
  verb: 'confirmed' | 'rejected',
  { caller, now }: ByCaller,
): Promise<HeldRateRow> {
  const token = (await findToken(trx, held.token_id))!
  const rate = { tokenId: token.id, usdRate: held.usd_rate, asOf: held.as_of, source: held.source }
  await announceRate(trx, token, rate, {
    verb,
    before: held.compared_usd_rate,
    heldRateId: held.id,
    actorId: caller.userId,
    now,
  })
  return (await findHeldRate(trx, held.id))!
}

const sentences = {
  recorded: 'was set by hand',
  held: 'was held back',
  confirmed: 'was held back and is now confirmed',
  rejected: 'was held back and is now rejected',
}

const causes = {
  jump: 'it differs too much from an earlier one',
  first: 'it is the first rate of the token',
  governed: 'a vault with governance uses the token',
}

type HoldCause = keyof typeof causes

type RateEvent = {
  verb: keyof typeof sentences
  /** The reason for which the rate is held. */
  cause?: HoldCause
  /** The earlier rate with which it is compared. */
  before: string | null | undefined
  heldRateId?: string
  actorId: string | null
  now: Date
}

async function announceRate(
  trx: Trx,
  token: TokenRow,
  { usdRate, asOf, source }: Rate,
  { verb, cause, before = null, heldRateId, actorId, now }: RateEvent,
): Promise<void> {
  const why = cause === undefined ? '' : `, because ${causes[cause]}; a platform administrator must confirm it`
  const details = { usdRate, asOf, source, ...(heldRateId === undefined ? {} : { heldRateId }) }
  const event = {
    actorId,
    action: `token.rate_${verb}`,
    targetType: 'token',
    targetId: token.id,
    details: { ...details, comparedUsdRate: before },
    words: {
      sentence: `A USD rate of the token ${quote(token.code)} on ${token.network_slug} ${sentences[verb]}${why}`,
      before: { usdRate: before },
      after: details,
    },
    now,
  }
  await announceRegistryChange(trx, event, await listVaultIdsUsingToken(trx, token.id))
}
