import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { type Vote, voteFormat } from '../../../lib/signed-vote.ts'
import { newestNumber } from '../../rules/governance/versions.ts'
import { type KeyElsewhere, signatureRequired, type Verified, verifySigned } from '../../rules/signatures/take.ts'
import type { Order } from './load-order.ts'
import { toPayload } from './order-payload.ts'
import { hashPayload, type OrderBody, type Payload } from './payload.ts'

/** What orders are signed with: who signs the id of a transfer, and on which pages people sign. */
export type Signing = Pick<Deps, 'sealer' | 'publicOrigin' | 'config'> & { keyElsewhere?: KeyElsewhere }

type Planned = ByMember & { order: Order }

const hourMilliseconds = 3_600_000
/** By how much the clock of the node that made a preview may be ahead. */
const skewMilliseconds = 60_000

/** What a preview gives a signed order or payout: its id, its end, and the rules that hold. */
export type Terms = { id: string; expiresAt: string; rulesVersion: number }
type Kind = 'transfer' | 'payout'

export async function planTerms(
  db: Db | Trx,
  { sealer, config: { approvalTtlHours } }: Signing,
  { member, now, kind }: ByMember & { kind: Kind },
): Promise<Terms> {
  const expiresAt = new Date(now.getTime() + approvalTtlHours * hourMilliseconds).toISOString()
  const id = newSignedId(sealer, prefixOf(now), { kind, member, expiresAt })
  return { id, expiresAt, rulesVersion: await newestNumber(db, member.vault.id) }
}

/** The order that the initiator must sign, and their vote for it; null where orders are not signed. */
export async function planSigned(
  db: Db | Trx,
  signing: Signing,
  { member, order, now }: Planned,
): Promise<{ order: Payload; vote: Vote } | null> {
  if (member.vault.protection === 'off') return null
  const payload = toSignedPayload(await planTerms(db, signing, { member, now, kind: 'transfer' }), member, order)
  const hash = hashPayload(payload).toString('hex')
  const vote: Vote = { format: voteFormat, subject: 'transfer', hash, decision: 'initiate', person: member.userId }
  return { order: payload, vote }
}

export const toSignedPayload = ({ id, expiresAt, rulesVersion }: Terms, member: Member, order: Order): Payload => ({
  ...toPayload(id, member, order),
  rulesVersion,
  expiresAt,
})

/**
 * The order as the service resolves it now, with what the initiator signed for it: the signature must be for exactly that.
 * @throws 403 without a signature, 409 when something else was signed, 400 for an id or an end that no preview gave
 */
export async function readSigned(
  trx: Trx,
  signing: Signing,
  { signed }: OrderBody,
  { member, order, now }: Planned,
): Promise<{ payload: Payload; verified: Verified } | null> {
  if (member.vault.protection === 'off') {
    if (signed !== undefined) throw badRequest('signed', 'is for orders in protected vaults')
    return null
  }
  if (signed === undefined) throw signatureRequired()
  const { transferId, vote, ...rest } = signed
  const terms = { id: transferId, ...rest }
  await assertTerms(trx, signing, terms, { member, now, kind: 'transfer' })
  const payload = toSignedPayload(terms, member, order)
  const hash = hashPayload(payload).toString('hex')
  const expected = { subject: 'transfer', decision: 'initiate', hash, member } as const
  const { publicOrigin, keyElsewhere } = signing
  return { payload, verified: await verifySigned(trx, vote, expected, publicOrigin(), keyElsewhere) }
}

/** @throws 400 for an id or an end that no preview gave to the member, 409 after the end or when the rules have changed */
export async function assertTerms(
  trx: Trx,
  { sealer, config: { approvalTtlHours } }: Signing,
  { id, expiresAt, rulesVersion }: Terms,
  { member, now, kind }: ByMember & { kind: Kind },
): Promise<void> {
  const end = new Date(expiresAt).getTime()
  if (id !== newSignedId(sealer, id.slice(0, prefixLength), { kind, member, expiresAt }))
    throw badRequest(`signed.${kind}Id`, 'is not one that a preview gave you with this expiresAt')
  if (end > now.getTime() + approvalTtlHours * hourMilliseconds + skewMilliseconds)
    throw badRequest('signed.expiresAt', 'is later than an order may wait')
  if (end <= now.getTime()) throw conflict('approval_expired', 'The signed order has expired')
  if ((await newestNumber(trx, member.vault.id)) !== rulesVersion)
    throw conflict('payload_changed', 'The rules of the vault have changed; preview the order and sign it again')
}

/** The account that it spends from is locked: of two requests with one signed order, the second sees the first. @throws 409 */
export async function assertNotPlaced(trx: Trx, { vaultId, transferId }: Payload): Promise<void> {
  const { rows } = await sql`select from transfers where vault_id = ${vaultId} and id = ${transferId}`.execute(trx)
  if (rows.length > 0) throw conflict('already_exists', 'This signed order was placed already')
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
