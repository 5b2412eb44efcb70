import { sql } from 'kysely'
import type { Trx } from '../../db/client.ts'
import { badRequest, notFound } from '../../lib/errors.ts'
import { insertAuditRecord } from '../audit/record.ts'

type Rate = { tokenId: string; usdRate: string; asOf: Date; source: string }

/**
 * Records a rate by hand; the same source at the same moment replaces what it said.
 * @throws 400 for a rate of 0 or from the future, 404 for an unknown token
 */
export async function recordRate(trx: Trx, rate: Rate, actorId: string, now: Date): Promise<void> {
  if (/^[0.]+$/.test(rate.usdRate)) throw badRequest('usdRate', 'must be greater than 0')
  if (rate.asOf > now) throw badRequest('asOf', 'must not lie in the future')
  const token = await trx.selectFrom('tokens').select('id').where('id', '=', rate.tokenId).executeTakeFirst()
  if (token === undefined) throw notFound('Token')
  await insertRates(trx, [rate], now)
  await insertAuditRecord(trx, {
    vaultId: null,
    actorId,
    action: 'token.rate_recorded',
    targetType: 'token',
    targetId: rate.tokenId,
    details: { usdRate: rate.usdRate, asOf: rate.asOf, source: rate.source },
    now,
  })
}

/** Records what the provider says, by token code: every token of that code has the rate, on whatever network. */
export async function recordProviderRates(trx: Trx, usdRateByCode: Map<string, string>, now: Date): Promise<void> {
  const tokens = await trx
    .selectFrom('tokens')
    .select(['id', 'code'])
    .where('code', 'in', [...usdRateByCode.keys()])
    .execute()
  const rates = tokens.map(({ id, code }) => ({
    tokenId: id,
    usdRate: usdRateByCode.get(code)!,
    asOf: now,
    source: 'provider',
  }))
  await insertRates(trx, rates, now)
}

async function insertRates(trx: Trx, rates: Rate[], now: Date): Promise<void> {
  await sql`
    insert into token_rates (token_id, as_of, source, usd_rate, created_at)
    select token_id, as_of, source, usd_rate, ${now} from unnest(
      ${rates.map((rate) => rate.tokenId)}::text[], ${rates.map((rate) => rate.asOf)}::timestamptz[],
      ${rates.map((rate) => rate.source)}::text[], ${rates.map((rate) => rate.usdRate)}::numeric[]
    ) as t(token_id, as_of, source, usd_rate)
    on conflict (token_id, as_of, source) do update set usd_rate = excluded.usd_rate, created_at = excluded.created_at`.execute(
    trx,
  )
}
