import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { type SignedVote, type Vote, voteFormat } from '../../../lib/signed-vote.ts'
import {
  type KeyElsewhere,
  signatureRequired,
  signedForMilliseconds,
  type Verified,
  verifySigned,
} from '../../rules/signatures/take.ts'
import { approvalEnd } from '../../rules/votes/open.ts'
import { findAuthority } from '../../vaults/authority/authority.ts'
import type { Order } from './load-order.ts'
import { hashPayload, type Payload } from './payload.ts'
import type { OrderBody } from './schema.ts'

/** The key that signs the ids of transfers, the origin of the page on which people sign, and the settings. */
export type Signing = Pick<Deps, 'sealer' | 'publicOrigin' | 'config'> & { keyElsewhere?: KeyElsewhere }

const nouns: Record<Kind, string> = { transfer: 'order', payout: 'payout' }

/** An order or payout of a member. `plan` returns the signed content for its terms. */
type Planning<Plan> = Signed & { plan: (terms: Terms) => Plan & { hash: Buffer } }

/**
 * Returns the content that the initiator must sign, with their vote for it; null where orders are not signed.
 * @throws 502 when the wallet service does not say which authority is in force
 */
export async function planSigned<Plan>(
  deps: Deps,
  { plan, ...signed }: Planning<Plan>,
): Promise<(Plan & { vote: Vote }) | null> {
  const { member, now, kind } = signed
  if (member.vault.protection === 'off') return null
  const authority = (await findAuthority(deps, member.vault.id))?.hash ?? null
  const planned = plan(newTerms(deps, signed))
  const hash = planned.hash.toString('hex')
  const signedAt = now.toISOString()
  const by = { person: member.userId, authority, signedAt }
  return { ...planned, vote: { format: voteFormat, subject: kind, hash, decision: 'initiate', ...by } }
}

/** Returns the resolved order in the form that is stored, voted on and handed over. */
export function toPayload(id: string, member: Member, order: Order): Payload {
  const { source, to, amount, feeLevel, maxFee } = order
  return {
    transferId: id,
    vaultId: member.vault.id,
    initiatorId: member.userId,
    fromAddressId: source.address_id,
    fromAddress: source.address,
    network: source.network_slug,
    coinType: source.coin_type,
    derivationPath: source.derivation_path,
    toAddress: to.address,
    tokenId: source.token_id,
    contractAddress: source.contract_address,
    amount: amount.toString(),
    ...(feeLevel === undefined ? {} : { feeLevel }),
    ...(maxFee === undefined ? {} : { maxFee: maxFee.raw.toString() }),
  }
}

export const toSignedPayload = ({ id, expiresAt, rulesVersion }: Terms, member: Member, order: Order): Payload => ({
  ...toPayload(id, member, order),
  rulesVersion,
  expiresAt,
})

/** Returns a function that gives the signed content of an order with some terms. */
export const planOf = (member: Member, order: Order) => (terms: Terms) => {
  const payload = toSignedPayload(terms, member, order)
  return { payload, hash: hashPayload(payload) }
}

/**
 * Returns an order or payout as the service resolves it now, with the verified signature of its initiator, which must be for exactly
 * this content. Returns null where orders are not signed.
 * @throws 403 without a signature, 409 when something else was signed, 400 for an id or an end that no preview gave
 */
export async function readSigned<Plan>(
  trx: Trx,
  signing: Signing,
  signed: (Terms & { vote: SignedVote }) | undefined,
  { member, now, kind, rulesVersion, plan }: Planning<Plan>,
): Promise<(Plan & { verified: Verified }) | null> {
  if (member.vault.protection === 'off') {
    if (signed !== undefined) throw badRequest('signed', `is for ${nouns[kind]}s in protected vaults`)
    return null
  }
  if (signed === undefined) throw signatureRequired()
  const { vote, ...terms } = signed
  assertTerms(signing, terms, { member, now, kind, rulesVersion })
  const planned = plan(terms)
  const hash = planned.hash.toString('hex')
  const endsAt = new Date(terms.expiresAt)
  const expected = { subject: kind, decision: 'initiate', hash, member, now, endsAt } as const
  const { publicOrigin, keyElsewhere } = signing
  return { ...planned, verified: await verifySigned(trx, vote, expected, publicOrigin(), keyElsewhere) }
}

type Unplaced = ByMember & { rulesVersion: number; order: Order }

/** Returns an order in the form that is stored, with its hash and the signature of its initiator. @throws as `readSigned` */
export async function readPayload(
  trx: Trx,
  signing: Signing,
  signed: OrderBody['signed'],
  { member, now, rulesVersion, order }: Unplaced,
): Promise<{ payload: Payload; payloadHash: Buffer; verified?: Verified }> {
  const signedOrder = signed && { ...signed, id: signed.transferId }
  const planning = { kind: 'transfer', member, now, rulesVersion, plan: planOf(member, order) } as const
  const read = await readSigned(trx, signing, signedOrder, planning)
  if (read !== null) return { payload: read.payload, payloadHash: read.hash, verified: read.verified }
  const payload = toPayload(newId(now), member, order)
  return { payload, payloadHash: hashPayload(payload) }
}

/**
 * Checks that a signed order or payout was not placed before. The caller has locked its accounts, so that the second of two equal
 * requests sees the first.
 * @throws 409
 */
export async function assertNotPlaced(trx: Trx, kind: Kind, vaultId: string, id: string): Promise<void> {
  const { rows } = await sql`select from ${sql.table(`${kind}s`)} where vault_id = ${vaultId} and id = ${id}`.execute(
    trx,
  )
  if (rows.length > 0) throw conflict('already_exists', `This signed ${nouns[kind]} was already placed`)
}

/** The most by which the clock of the node that made a preview may be ahead. */
const skewMilliseconds = 60_000

/** Terms that a preview gives a signed order or payout: its id, its end, and the version of the rules. */
export type Terms = { id: string; expiresAt: string; rulesVersion: number }
export type Kind = 'transfer' | 'payout'

/** The member who signs an order or payout, and the version of the rules that decides on it. */
type Signed = ByMember & { kind: Kind; rulesVersion: number }

/** The most by which the clock of a signer may be behind. The end of an order is compared with the time of its signature. */
const signersSkewMilliseconds = 3_600_000

/** Returns the end of the time for votes, which is not after the end of a signature. */
function latestEnd(now: Date, config: Deps['config']): Date {
  const signatureEnd = now.getTime() + signedForMilliseconds - signersSkewMilliseconds
  return new Date(Math.min(approvalEnd(now, config).getTime(), signatureEnd))
}

/** Returns the terms of a preview that is made now. */
function newTerms(
  { sealer, config }: Pick<Deps, 'sealer' | 'config'>,
  { member, now, kind, rulesVersion }: Signed,
): Terms {
  const expiresAt = latestEnd(now, config).toISOString()
  const id = newSignedId(sealer, prefixOf(now), { kind, member, expiresAt })
  return { id, expiresAt, rulesVersion }
}

/** @throws 400 for an id or an end that no preview gave to the member, 409 after the end or when the rules have changed */
function assertTerms(
  { sealer, config }: Pick<Deps, 'sealer' | 'config'>,
  { id, expiresAt, rulesVersion: signedVersion }: Terms,
  { member, now, kind, rulesVersion }: Signed,
): void {
  const end = new Date(expiresAt).getTime()
  if (id !== newSignedId(sealer, id.slice(0, prefixLength), { kind, member, expiresAt }))
    throw badRequest(`signed.${kind}Id`, 'is not one that a preview gave you with this expiresAt')
  if (end > latestEnd(now, config).getTime() + skewMilliseconds)
    throw badRequest('signed.expiresAt', 'is later than an order may wait')
  if (end <= now.getTime()) throw conflict('approval_expired', 'The signed order has expired')
  if (signedVersion !== rulesVersion)
    throw conflict('payload_changed', 'The rules of the vault have changed; preview the order and sign it again')
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyz'
/** The length of the prefix: `c` and the clock in milliseconds, as in every id, and five random digits for previews of one millisecond. */
const prefixLength = 14
function prefixOf(now: Date): string {
  const random = Array.from({ length: 5 }, () => digits[randomInt(36)])
  return `c${now.getTime().toString(36).padStart(8, '0')}${random.join('')}`
}
/** The length of the MAC in an id: 57 bits, too many to guess by requests. */
const macLength = 11

/**
 * Returns the id of a previewed transfer or payout. It has the form of every id and is bound to the member, the vault and the end of
 * the order. So a caller cannot choose an id, such as that of another vault's transfer, and a preview stores no row.
 */
function newSignedId(
  sealer: Deps['sealer'],
  prefix: string,
  { kind, member, expiresAt }: { kind: Kind; member: Member; expiresAt: string },
): string {
  const mac = sealer.mac(`${kind} id`, JSON.stringify([prefix, member.vault.id, member.userId, expiresAt]))
  const bound = Array.from({ length: macLength }, (_, i) => digits[mac.readUInt16BE(2 * i) % 36])
  return prefix + bound.join('')
}
