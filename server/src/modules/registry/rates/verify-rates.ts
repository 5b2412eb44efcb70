import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { trimDecimal } from '../../../lib/money.ts'
import { compareRows, ofTarget, type RecordedRow } from '../../record/audit/compare-rows.ts'
import type { ReplayedRecord } from '../../record/audit/queries.ts'
import { platformChain } from '../../record/audit/record.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

type Details = { usdRate: string; asOf: string; source: string; comparedUsdRate: string | null; heldRateId?: string }
type Stored = { token: string; rate: string; asOf: Date; source: string }

/** The source of rates without an audit record, because no person decided on them. */
const provider = 'provider'

/** Compares each rate that a person set or confirmed with the audit records. */
export async function verifyRates(trx: Trx): Promise<SubjectReport> {
  const { rows } = await sql<Stored & { confirmer: string | null }>`
    select token_id as token, trim_scale(usd_rate) as rate, as_of as "asOf", source, confirmed_by_id as confirmer
    from token_rates where source <> ${provider} or confirmed_by_id is not null order by token_id, as_of`.execute(trx)
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'token_rate',
    actions: ['token.rate_recorded', 'token.rate_confirmed'],
    take(recorded, { action, actorId, targetId, details }) {
      const { usdRate, asOf, source } = details as Details
      const confirmer = action === 'token.rate_confirmed' ? actorId : null
      if (source !== provider || confirmer !== null)
        recorded.set(idOf(targetId, asOf), { rate: trimDecimal(usdRate), source, confirmer })
    },
    rows: rows.map(({ token, rate, asOf, source, confirmer }) => ({
      id: idOf(token, asOf.toISOString()),
      row: { rate, source, confirmer },
    })),
  })
}

const idOf = (tokenId: string, asOf: string): string => `${tokenId} ${asOf}`

/** Compares the held rates, and the people who decided on them, with the audit records. */
export async function verifyHeldRates(trx: Trx): Promise<SubjectReport> {
  const { rows } = await sql<
    Stored & { id: string; compared: string | null; status: string; author: string; decider: string }
  >`
    select id, token_id as token, trim_scale(usd_rate) as rate, as_of as "asOf", source, status,
      trim_scale(compared_usd_rate) as compared, created_by_id as author, decided_by_id as decider
    from held_rates order by id`.execute(trx)
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'held_rate',
    actions: ['token.rate_held', 'token.rate_confirmed', 'token.rate_rejected'],
    take: (recorded, record) =>
      ofTarget((before) => afterDecision(before, record))(recorded, {
        ...record,
        targetId: (record.details as Details).heldRateId!,
      }),
    rows: rows.map(({ id, asOf, status, ...row }) => {
      // A held rate is superseded when the provider reports another rate, without a decision of a person.
      const isOpen = status === 'held' || status === 'superseded'
      return { id, row: { ...row, asOf: asOf.toISOString(), status: isOpen ? 'undecided' : status } }
    }),
  })
}

function afterDecision(before: RecordedRow | undefined, { action, actorId, targetId, details }: ReplayedRecord) {
  const { usdRate, asOf, source, comparedUsdRate } = details as Details
  if (action !== 'token.rate_held') return { ...before, status: action.slice('token.rate_'.length), decider: actorId }
  const compared = comparedUsdRate === null ? null : trimDecimal(comparedUsdRate)
  return {
    ...{ token: targetId, rate: trimDecimal(usdRate), asOf, source, compared },
    ...{ author: actorId, decider: null, status: 'undecided' },
  }
}
