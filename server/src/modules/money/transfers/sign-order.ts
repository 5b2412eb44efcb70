import { randomInt } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { type PaidRow, type Place, type PlannedPayout, planPayout } from '../../../lib/signed-payout.ts'
import { type SignedVote, type Vote, voteFormat } from '../../../lib/signed-vote.ts'
import { newestNumber } from '../../rules/governance/versions.ts'
import { listSignedVotes, type SignedVoteRow } from '../../rules/signatures/queries.ts'
import { type KeyElsewhere, signatureRequired, type Verified, verifySigned } from '../../rules/signatures/take.ts'
import { approvalEnd } from '../../rules/votes/expire.ts'
import type { Order } from './load-order.ts'
import { hashPayload, isSignedOrder, type Payload, toPayload } from './payload.ts'

/** What orders are signed with: who signs the id of a transfer, and on which pages people sign. */
export type Signing = Pick<Deps, 'sealer' | 'publicOrigin' | 'config'> & { keyElsewhere?: KeyElsewhere }

/** By how much the clock of the node that made a preview may be ahead. */
const skewMilliseconds = 60_000

/** What a preview gives a signed order or payout: its id, its end, and the rules that hold. */
export type Terms = { id: string; expiresAt: string; rulesVersion: number }
type Kind = 'transfer' | 'payout'
const nouns: Record<Kind, string> = { transfer: 'order', payout: 'payout' }

/** Whose order or payout it is, of which `plan` says what is signed once its terms are known. */
type Planning<Plan> = ByMember & { kind: Kind; plan: (terms: Terms) => Plan & { hash: Buffer } }

/** What the initiator must sign, and their vote for it; null where orders are not signed. */
export async function planSigned<Plan>(
  db: Db | Trx,
  { sealer, config }: Signing,
  { member, now, kind, plan }: Planning<Plan>,
): Promise<(Plan & { vote: Vote }) | null> {
  if (member.vault.protection === 'off') return null
  const expiresAt = approvalEnd(now, config).toISOString()
  const id = newSignedId(sealer, prefixOf(now), { kind, member, expiresAt })
  const planned = plan({ id, expiresAt, rulesVersion: await newestNumber(db, member.vault.id) })
  const hash = planned.hash.toString('hex')
  return { ...planned, vote: { format: voteFormat, subject: kind, hash, decision: 'initiate', person: member.userId } }
}

export const toSignedPayload = ({ id, expiresAt, rulesVersion }: Terms, member: Member, order: Order): Payload => ({
  ...toPayload(id, member, order),
  rulesVersion,
  expiresAt,
})

/** What is signed of an order with these terms. */
export const planOf = (member: Member, order: Order) => (terms: Terms) => {
  const payload = toSignedPayload(terms, member, order)
  return { payload, hash: hashPayload(payload) }
}

/**
 * An order or payout as the service resolves it now, with what the initiator signed for it: the signature must be for exactly
 * that. null where orders are not signed.
 * @throws 403 without a signature, 409 when something else was signed, 400 for an id or an end that no preview gave
 */
export async function readSigned<Plan>(
  trx: Trx,
  signing: Signing,
  signed: (Terms & { vote: SignedVote }) | undefined,
  { member, now, kind, plan }: Planning<Plan>,
): Promise<(Plan & { verified: Verified }) | null> {
  if (member.vault.protection === 'off') {
    if (signed !== undefined) throw badRequest('signed', `is for ${nouns[kind]}s in protected vaults`)
    return null
  }
  if (signed === undefined) throw signatureRequired()
  const { vote, ...terms } = signed
  await assertTerms(trx, signing, terms, { member, now, kind })
  const planned = plan(terms)
  const expected = { subject: kind, decision: 'initiate', hash: planned.hash.toString('hex'), member } as const
  const { publicOrigin, keyElsewhere } = signing
  return { ...planned, verified: await verifySigned(trx, vote, expected, publicOrigin(), keyElsewhere) }
}

/** @throws 400 for an id or an end that no preview gave to the member, 409 after the end or when the rules have changed */
async function assertTerms(
  trx: Trx,
  { sealer, config }: Signing,
  { id, expiresAt, rulesVersion }: Terms,
  { member, now, kind }: ByMember & { kind: Kind },
): Promise<void> {
  const end = new Date(expiresAt).getTime()
  if (id !== newSignedId(sealer, id.slice(0, prefixLength), { kind, member, expiresAt }))
    throw badRequest(`signed.${kind}Id`, 'is not one that a preview gave you with this expiresAt')
  if (end > approvalEnd(now, config).getTime() + skewMilliseconds)
    throw badRequest('signed.expiresAt', 'is later than an order may wait')
  if (end <= now.getTime()) throw conflict('approval_expired', 'The signed order has expired')
  if ((await newestNumber(trx, member.vault.id)) !== rulesVersion)
    throw conflict('payload_changed', 'The rules of the vault have changed; preview the order and sign it again')
}

/**
 * The accounts that it spends from are locked: of two requests with one signed order or payout, the second sees the first.
 * @throws 409
 */
export async function assertNotPlaced(trx: Trx, kind: Kind, vaultId: string, id: string): Promise<void> {
  const { rows } = await sql`select from ${sql.table(`${kind}s`)} where vault_id = ${vaultId} and id = ${id}`.execute(
    trx,
  )
  if (rows.length > 0) throw conflict('already_exists', `This signed ${nouns[kind]} was placed already`)
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyz'
/** `c` and the millisecond clock, as in every id, and five digits by which the previews of a millisecond differ. */
const prefixLength = 14
function prefixOf(now: Date): string {
  const random = Array.from({ length: 5 }, () => digits[randomInt(36)])
  return `c${now.getTime().toString(36).padStart(8, '0')}${random.join('')}`
}
/** 57 bits, which nobody finds by asking. */
const macLength = 11

/**
 * The id of a transfer or payout that was previewed: of the form of every id, and bound to the member, the vault and the end of
 * the order. Nobody chooses one, such as that of another vault's transfer, and nothing is stored until it is ordered.
 */
function newSignedId(
  sealer: Signing['sealer'],
  prefix: string,
  { kind, member, expiresAt }: { kind: Kind; member: Member; expiresAt: string },
): string {
  const mac = sealer.mac(`${kind} id`, JSON.stringify([prefix, member.vault.id, member.userId, expiresAt]))
  const bound = Array.from({ length: macLength }, (_, i) => digits[mac.readUInt16BE(2 * i) % 36])
  return prefix + bound.join('')
}

/** What people signed: votes on the order, or on the payout that it is a row of, with its place there. */
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

/** What of the order of a row is signed with its payout; null where orders are not signed. */
export type SignedFields = Omit<PaidRow, 'order'> & Record<'rulesVersion', number> & { expiresAt: string | null }

/** SQL: the same of the transfer of `alias`. */
export const signedFieldsOf = (alias: string): RawBuilder<SignedFields> => {
  const payload = sql.ref(`${alias}.payload`)
  return sql`json_build_object('network', ${payload} ->> 'network', 'contractAddress', ${payload} ->> 'contractAddress',
    'amount', ${payload} ->> 'amount', 'rulesVersion', ${payload} -> 'rulesVersion', 'expiresAt', ${payload} ->> 'expiresAt')`
}

type PlacedRow = { id: string; initiatorId: string; order: string; fields: SignedFields }

/** Payouts are handed over row by row, and each asks for its place in the same tree. */
const kept = new Map<string, { plan: PlannedPayout; indexOf: ReadonlyMap<string, number> }>()
const keptMax = 8

/** Nothing here is trusted: the wallet service finds the row at this place of what people signed, or refuses it. */
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
