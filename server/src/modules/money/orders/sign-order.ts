import { sql } from 'kysely'
import type { ByMember, Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { type SignedVote, type Vote, voteFormat } from '../../../lib/signed-vote.ts'
import { type KeyElsewhere, signatureRequired, type Verified, verifySigned } from '../../rules/signatures/take.ts'
import { findAuthority } from '../../vaults/authority/authority.ts'
import type { Order } from './load-order.ts'
import { hashPayload, toPayload } from './payload.ts'
import type { Payload } from './payload-schema.ts'
import { assertTerms, type Kind, newTerms, type Terms } from './signed-terms.ts'

/** What orders are signed with: who signs the id of a transfer, and on which pages people sign. */
export type Signing = Pick<Deps, 'sealer' | 'publicOrigin' | 'config'> & { keyElsewhere?: KeyElsewhere }

const nouns: Record<Kind, string> = { transfer: 'order', payout: 'payout' }

/** Whose order or payout it is, of which `plan` says what is signed once its terms are known. */
type Planning<Plan> = ByMember & { kind: Kind; plan: (terms: Terms) => Plan & { hash: Buffer } }

/**
 * What the initiator must sign, and their vote for it; null where orders are not signed.
 * @throws 502 when the wallet service does not say which authority is in force
 */
export async function planSigned<Plan>(
  deps: Deps,
  { member, now, kind, plan }: Planning<Plan>,
): Promise<(Plan & { vote: Vote }) | null> {
  if (member.vault.protection === 'off') return null
  const authority = (await findAuthority(deps, member.vault.id))?.hash ?? null
  const planned = plan(await newTerms(deps.db, deps, { member, now, kind }))
  const hash = planned.hash.toString('hex')
  const signedAt = now.toISOString()
  const by = { person: member.userId, authority, signedAt }
  return { ...planned, vote: { format: voteFormat, subject: kind, hash, decision: 'initiate', ...by } }
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
  const hash = planned.hash.toString('hex')
  const endsAt = new Date(terms.expiresAt)
  const expected = { subject: kind, decision: 'initiate', hash, member, now, endsAt } as const
  const { publicOrigin, keyElsewhere } = signing
  return { ...planned, verified: await verifySigned(trx, vote, expected, publicOrigin(), keyElsewhere) }
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
