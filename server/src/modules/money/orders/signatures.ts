import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { type PaidRow, type Place, type PlannedPayout, planPayout } from '../../../lib/signed-payout.ts'
import { listSignedVotes, type SignedVoteRow } from '../../rules/signatures/queries.ts'
import { isSignedOrder, type Payload } from './payload.ts'

/** The signed votes on an order, or on the payout that contains it, with its place in that payout. */
export type Signatures = { votes: SignedVoteRow[]; place: Place | null }

type Signed = { vault_id: string; id: string; payout_id: string | null }

export async function readSignatures(
  db: Db | Trx,
  { vault_id: vaultId, id, payout_id: payoutId }: Signed,
  payload: Payload,
): Promise<Signatures> {
  if (!isSignedOrder(payload)) return { votes: [], place: null }
  const votes = await listSignedVotes(db, vaultId, payoutId ?? id)
  return { votes, place: payoutId === null ? null : await findPlace(db, vaultId, { id, payoutId }) }
}

/** The fields of an order that are signed with its payout; null where orders are not signed. */
export type SignedFields = Omit<PaidRow, 'order'> & Record<'rulesVersion', number> & { expiresAt: string | null }

/** SQL: JSON of SignedFields of the transfer of `alias`. */
export const signedFieldsOf = (alias: string): RawBuilder<SignedFields> => {
  const payload = sql.ref(`${alias}.payload`)
  return sql`json_build_object('network', ${payload} ->> 'network', 'contractAddress', ${payload} ->> 'contractAddress',
    'amount', ${payload} ->> 'amount', 'rulesVersion', ${payload} -> 'rulesVersion', 'expiresAt', ${payload} ->> 'expiresAt')`
}

type PlacedRow = { id: string; initiatorId: string; order: string; fields: SignedFields }

/** The trees of recent payouts: their rows are handed over one by one, and each row needs its place in the tree. */
const kept = new Map<string, { plan: PlannedPayout; indexOf: ReadonlyMap<string, number> }>()
const keptMax = 8

/** Returns the place of a row. The wallet service checks it against the signed content, so a wrong place is refused there. */
async function findPlace(
  db: Db | Trx,
  vaultId: string,
  { id, payoutId }: { id: string; payoutId: string },
): Promise<Place | null> {
  const found = kept.get(payoutId) ?? (await planStored(db, vaultId, payoutId))
  kept.delete(payoutId)
  kept.set(payoutId, found)
  const oldest = kept.keys().next().value
  if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest)
  const index = found.indexOf.get(id)
  return index === undefined ? null : found.plan.placeOf(index)
}

async function planStored(db: Db | Trx, vaultId: string, payoutId: string) {
  const { rows } = await sql<PlacedRow>`
    select t.id, p.initiator_id as "initiatorId", encode(t.payload_hash, 'hex') as "order", ${signedFieldsOf('t')} as fields
    from transfers t join payouts p on p.vault_id = t.vault_id and p.id = t.payout_id
    where t.vault_id = ${vaultId} and t.payout_id = ${payoutId} order by t.payout_row`.execute(db)
  const { initiatorId, fields } = rows[0]!
  const { rulesVersion, expiresAt } = fields
  const head = { payoutId, vaultId, initiatorId, rulesVersion, expiresAt: expiresAt ?? '' }
  const paid = rows.map((row) => ({ ...row.fields, order: row.order }))
  return { plan: planPayout(head, paid), indexOf: new Map(rows.map((row, index) => [row.id, index])) }
}
