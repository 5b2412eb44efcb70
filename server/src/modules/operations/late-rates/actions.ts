import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { rateAgeMinutesMax } from '../../../lib/limits.ts'
import { usdValueOf } from '../../../lib/money.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { toRateSnapshot } from '../../operations/feed/operation-rows.ts'
import { audit } from '../../record/audit/record.ts'
import { newestRate, type RateColumns } from '../../registry/rates/queries.ts'
import { lockOperation, type OperationKey, type OperationRow } from '../feed/queries.ts'
import type { OperationRate } from './schema.ts'

type Rated = Static<typeof OperationRate>

/**
 * Gives an operation without a USD rate the recorded rate that applied at its creation, even if that rate was recorded
 * later. The caller cannot choose the rate, an existing rate is returned unchanged, and no decision uses an added rate
 * (docs/decisions/0031-late-rates.md).
 *
 * @throws 404 for an operation that the member may not see, 409 when no rate of its time is recorded
 */
export async function addRate(trx: Trx, key: OperationKey, by: ByMember): Promise<Rated> {
  const operation = orNotFound(await lockOperation(trx, by.member, key), 'Operation')
  const present = await findRate(trx, operation)
  if (present !== null) return present
  const { decimals, recorded } = await findRecordedRate(trx, operation)
  if (recorded === null) {
    throw conflict(
      'rate_not_recorded',
      'No rate of this time is recorded',
      `The token has no rate that was at most ${rateAgeMinutesMax} minutes old when the operation was created`,
    )
  }
  const added: Rated = {
    id: operation.id,
    operationType: operation.type,
    usdRate: recorded.usdRate,
    usdRateAsOf: recorded.asOf.toISOString(),
    // No source of a recorded rate contains a colon, so it cannot claim to be one of these.
    usdRateSource: `later:${recorded.source}`,
    usdValue: usdValueOf(BigInt(operation.amount), decimals, recorded.usdRate),
  }
  await trx
    .updateTable('operations')
    .set({
      usd_rate: added.usdRate,
      usd_rate_as_of: recorded.asOf,
      usd_rate_source: added.usdRateSource,
      usd_value: added.usdValue,
      usd_rate_added_at: by.now,
      updated_at: by.now,
    })
    .where('vault_id', '=', operation.vault_id)
    .where('id', '=', operation.id)
    .where('usd_rate', 'is', null)
    .execute()
  const { usdRate, usdRateAsOf, usdRateSource, usdValue } = added
  await audit(trx, byMember(by), 'operation.rate_added', operation, { usdRate, usdRateAsOf, usdRateSource, usdValue })
  return added
}

async function findRate(trx: Trx, { vault_id, id }: OperationRow): Promise<Rated | null> {
  const { rows } = await sql<Omit<Rated, 'usdRateAsOf'> & { usdRateAsOf: Date | null }>`
    select id, type as "operationType", trim_scale(usd_rate) as "usdRate", usd_rate_as_of as "usdRateAsOf",
      usd_rate_source as "usdRateSource", usd_value as "usdValue"
    from operations where vault_id = ${vault_id} and id = ${id} and usd_rate is not null`.execute(trx)
  const [row] = rows
  return row === undefined ? null : { ...row, usdRateAsOf: row.usdRateAsOf?.toISOString() ?? null }
}

/** Returns the recorded rate of the time of the operation, by the rule that applies when an operation is created. */
async function findRecordedRate(trx: Trx, { token_id, created_at }: OperationRow) {
  const { rows } = await sql<RateColumns & { decimals: number }>`
    select t.decimals, r.usd_rate, r.usd_rate_as_of, r.usd_rate_source
    from tokens t ${newestRate('t.id', created_at)} where t.id = ${token_id}`.execute(trx)
  const row = rows[0]!
  return { decimals: row.decimals, recorded: toRateSnapshot(row) }
}
