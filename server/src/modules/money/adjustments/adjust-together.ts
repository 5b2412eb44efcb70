import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type ByMember, byInitiator, type Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Confirm } from '../../../http/confirmation.ts'
import { accepted } from '../../../http/mutate.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { conflict } from '../../../lib/errors.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { readRequest, type Waits } from '../../rules/approval-requests/gate.ts'
import { requestAction } from '../../rules/approval-requests/request-action.ts'
import { assertSteppedUp } from '../../rules/approval-requests/step-up.ts'
import { votesOfPeople } from '../../rules/decisions/decision.ts'
import { assertPerson } from '../../rules/decisions/dual-control.ts'
import { findAdministratorsId } from '../../rules/policy-groups/memberships.ts'
import type { Executor, PreparedStep, Step, StepContext } from '../../rules/votes/executor.ts'
import { isAgreed, isUnderQuorum } from '../ledger/agreed.ts'
import { toAdjustment } from '../ledger/present.ts'
import { listAdjustments, lockAccountOf } from '../ledger/queries.ts'
import { type Adjustment, AdjustmentBody } from '../ledger/schema.ts'
import { adjustBalance, assertAdjustable, planAdjustment } from './adjust.ts'

type Body = Static<typeof AdjustmentBody>

/** Reads the payload of a request: the body, with the address and the asset that the service adds for voters. */
const readPayload = payloadReader(
  Type.Object(
    { ...AdjustmentBody.properties, address: Type.Optional(Type.String()), asset: Type.Optional(Type.String()) },
    { additionalProperties: false },
  ),
)

/**
 * Carries out an adjustment that two people agree on, whatever the policies say. Without a target, the last vote posts the
 * adjustment. A target is an adjustment that is in the books already, which policies count from the last vote on.
 */
export const adjustExecutor: Executor = {
  async prepare(db, context, step) {
    return step.targetId === null ? prepareNew(db, context, step) : prepareExisting(db, context, step, step.targetId)
  },
  async decide(trx, { vaultId, now }, _prepared, initiator) {
    assertPerson(initiator)
    const id = await findAdministratorsId(trx, vaultId)
    const facts = { now, initiatorId: initiator.userId, initiatorGroupIds: initiator.groupIds }
    const administrators = { id, code: 'two_administrators', name: 'Two administrators' }
    return { blockReason: null, policies: [], trace: [], facts, ...votesOfPeople(administrators, 1) }
  },
  async apply(trx, context, { targetId, payload }) {
    if (targetId !== null) {
      await getUnagreed(trx, context.vaultId, targetId)
      return { resultId: targetId }
    }
    const { address: _, asset: __, ...body } = readPayload(payload)
    return { resultId: await adjustBalance(trx, body, byInitiator(context)) }
  },
}

async function prepareNew(db: Db | Trx, { vaultId }: StepContext, step: Step): Promise<PreparedStep> {
  const { address: _, asset: __, ...body } = readPayload(step.payload)
  const { address, code: asset } = await planAdjustment(db, vaultId, body)
  await assertAdjustable(db, { vaultId, ...body })
  return toPrepared({ ...step, payload: { ...body, address, asset } })
}

async function prepareExisting(db: Db | Trx, { vaultId }: StepContext, step: Step, id: string): Promise<PreparedStep> {
  const { decimals, ...made } = await getUnagreed(db, vaultId, id)
  const amount = formatDecimal(BigInt(made.amount), decimals)
  return toPrepared({ ...step, payload: { ...made, amount } })
}

const toPrepared = (step: Step): PreparedStep => ({
  step,
  targetType: 'adjustment',
  targetId: step.targetId,
  baseVersion: null,
  facts: {},
})

type UnagreedAdjustment = Body & {
  address: string
  asset: string
  decimals: number
  createdById: string
  createdAt: string
}

/** @throws 404, and 409 for an adjustment that two people agreed on */
async function getUnagreed(db: Db | Trx, vaultId: string, id: string): Promise<UnagreedAdjustment> {
  const { rows } = await sql<UnagreedAdjustment & { isAgreed: boolean }>`
    select d.address_id as "addressId", d.token_id as "tokenId", d.amount::text as amount, d.reason, a.address,
      t.code as asset, t.decimals, d.created_by_id as "createdById",
      to_char(d.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      ${isAgreed('d')} as "isAgreed"
    from adjustments d
    join addresses a on a.vault_id = d.vault_id and a.id = d.address_id
    join tokens t on t.id = d.token_id
    where d.vault_id = ${vaultId} and d.id = ${id}`.execute(db)
  const { isAgreed: agreed, ...made } = orNotFound(rows[0], 'Adjustment')
  if (agreed) throw conflict('wrong_state', 'Two people already agreed on this adjustment')
  return made
}

type RequestedBy = ByMember & { confirm: Confirm; approvalTtlHours: number }

/**
 * Adjusts a balance at once where one administrator may, and otherwise requests the agreement of a second administrator.
 * @throws as `adjustBalance`, 403 for a service or without a passkey, 409 when no second person could agree
 */
export async function adjustOrRequest(
  trx: Trx,
  body: Body,
  request: RequestedBy,
): Promise<Static<typeof Adjustment> | Waits> {
  const { member, now } = request
  const vaultId = member.vault.id
  await planAdjustment(trx, vaultId, body)
  if (await needsTwoPeople(trx, member, body)) return requestVote(trx, { targetId: null, payload: body }, request)
  const id = await adjustBalance(trx, body, { vaultId, actorId: member.userId, now })
  const [row] = await listAdjustments(trx, vaultId, { id }, { after: null, limit: 1 })
  return toAdjustment(row!)
}

/** Requests the agreement of a second administrator to an adjustment that is in the books. @throws 404, 409 */
export function requestAgreement(trx: Trx, id: string, request: RequestedBy): Promise<Waits> {
  return requestVote(trx, { targetId: id, payload: {} }, request)
}

/**
 * Returns true if two people must agree: in a vault with governance or protection, and everywhere when the adjustment would
 * cover an exposure or replace an event on which two people decide. Locks the account, so that neither can arrive meanwhile.
 */
async function needsTwoPeople(trx: Trx, { vault: { id: vaultId } }: Member, body: Body): Promise<boolean> {
  const { addressId, tokenId, amount } = body
  await lockAccountOf(trx, vaultId, { addressId, tokenId })
  const { rows } = await sql<{ isUnderQuorum: boolean; isInDispute: boolean }>`
    select ${isUnderQuorum(sql`${vaultId}`)} as "isUnderQuorum",
      exists (select from ledger_accounts l where l.vault_id = ${vaultId} and l.address_id = ${addressId}
        and l.token_id = ${tokenId} and l.exposure > 0)
      or exists (select from wallet_events e where e.vault_id = ${vaultId} and e.outcome = 'quarantined'
        and e.quarantine_key is not null and e.quarantined ->> 'addressId' = ${addressId}
        and e.quarantined ->> 'tokenId' = ${tokenId}) as "isInDispute"`.execute(trx)
  const { isUnderQuorum: underQuorum, isInDispute } = rows[0]!
  return underQuorum || (isInDispute && !amount.startsWith('-'))
}

async function requestVote(
  trx: Trx,
  { targetId, payload }: Pick<Step, 'targetId' | 'payload'>,
  { member, now, confirm, approvalTtlHours }: RequestedBy,
): Promise<Waits> {
  assertPerson(member)
  if (member.vault.protection === 'votes') await assertSteppedUp(trx, { caller: member, confirm, isVotedOn: true })
  else await confirm(trx, { unlessNone: true })
  const outcome = await requestAction(trx, {
    member,
    action: 'balance_adjust',
    steps: [{ action: 'balance_adjust', targetId, payload }],
    executors: { balance_adjust: adjustExecutor },
    approvalTtlHours,
    now,
  })
  if (!('request' in outcome)) throw new Error('A balance was adjusted without a second person')
  return accepted({ request: await readRequest(trx, member, outcome.request, now) })
}
