import type { Static } from 'typebox'
import { type By, byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { type Executor, type PreparedStep, referenceOf, type Step } from '../../rules/votes/executor.ts'
import { toFacts } from '../counterparties/actions.ts'
import { type CounterpartyRow, findCounterparty } from '../counterparties/queries.ts'
import { NoPayload } from '../counterparties/schema.ts'
import {
  assertLive,
  assertNoTarget,
  changing,
  findTarget,
  type Kind,
  lockEntry,
  lockTarget,
  prepared,
  type Target,
  toColumns,
} from '../counterparties/step-target.ts'
import { type CounterpartyGroupRow, findGroup, findMembership, isCodeTaken } from './queries.ts'
import { CounterpartyGroupCreation, CounterpartyGroupMember, CounterpartyGroupUpdate } from './schema.ts'

const kind: Kind = 'counterparty_group'
type Creation = Static<typeof CounterpartyGroupCreation>
type Update = Static<typeof CounterpartyGroupUpdate>
type Member = Static<typeof CounterpartyGroupMember>

/** @throws 409 when another group has the code */
async function insertGroup(trx: Trx, body: Creation, by: By): Promise<string> {
  const id = newId(by.now)
  await trx
    .insertInto('counterparty_groups')
    .values({
      vault_id: by.vaultId,
      id,
      code: body.code,
      name: body.name,
      description: body.description ?? null,
      avatar_uri: body.avatarUri ?? null,
      color: body.color ?? null,
      emoji: body.emoji ?? null,
      created_at: by.now,
      updated_at: by.now,
    })
    .execute()
    .catch(onViolation('counterparty_groups_code', () => codeTaken(body.code)))
  await audit(trx, by, 'counterparty_group.created', groupOf(id), { code: body.code, name: body.name })
  return id
}

/** @throws StaleError, 404, 409 when it is archived */
async function updateGroup(trx: Trx, target: Target, body: Update, by: By): Promise<void> {
  await lockTarget(trx, kind, by.vaultId, target)
  const row = (await findGroup(trx, by.vaultId, target.id))!
  await trx
    .updateTable('counterparty_groups')
    .set((value) => ({
      ...toColumns(body),
      version: value('version', '+', 1),
      updated_at: by.now,
    }))
    .where('vault_id', '=', by.vaultId)
    .where('id', '=', target.id)
    .execute()
  await audit(trx, by, 'counterparty_group.updated', groupOf(target.id), {
    code: row.code,
    changes: changedFields({ ...row, avatarUri: row.avatar_uri }, body),
  })
}

/** @throws StaleError, 404, 409 when it is archived already */
async function archiveGroup(trx: Trx, target: Target, _body: object, by: By): Promise<void> {
  await lockTarget(trx, kind, by.vaultId, target)
  const { code } = await trx
    .updateTable('counterparty_groups')
    .set((value) => ({ archived_at: by.now, version: value('version', '+', 1), updated_at: by.now }))
    .where('vault_id', '=', by.vaultId)
    .where('id', '=', target.id)
    .returning('code')
    .executeTakeFirstOrThrow()
  await audit(trx, by, 'counterparty_group.archived', groupOf(target.id), { code })
}

/**
 * Adds a counterparty to a group. The version of the group stays the same, because its members are not part of it:
 * requests that add several members do not make each other stale.
 *
 * @throws StaleError, 400 for a counterparty that the vault does not have, 404, 409 when either is archived or it is a
 *   member already
 */
export async function addMember(trx: Trx, target: Target, { counterpartyId }: Member, by: By): Promise<void> {
  await lockTarget(trx, kind, by.vaultId, target, 'share')
  const counterparty = await lockEntry(trx, 'counterparty', by.vaultId, counterpartyId, 'share')
  if (counterparty === null) throw badRequest('counterpartyId', 'is not a counterparty of this vault')
  assertLive('counterparty', counterparty)
  await trx
    .insertInto('counterparty_group_memberships')
    .values({ vault_id: by.vaultId, group_id: target.id, counterparty_id: counterpartyId, created_at: by.now })
    .execute()
    .catch(onViolation('counterparty_group_memberships_once', alreadyMember))
  await audit(trx, by, 'counterparty_group.member_added', groupOf(target.id), { counterpartyId })
}

/**
 * Removes a counterparty, archived or not, from a group.
 * @throws StaleError, 404 for the group or the membership, 409 when the group is archived
 */
export async function removeMember(trx: Trx, target: Target, { counterpartyId }: Member, by: By): Promise<void> {
  await lockTarget(trx, kind, by.vaultId, target, 'share')
  const { numDeletedRows } = await trx
    .deleteFrom('counterparty_group_memberships')
    .where('vault_id', '=', by.vaultId)
    .where('group_id', '=', target.id)
    .where('counterparty_id', '=', counterpartyId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Membership')
  await audit(trx, by, 'counterparty_group.member_removed', groupOf(target.id), { counterpartyId })
}

const codeTaken = (code: string) =>
  conflict('already_exists', `The vault already has a counterparty group with the code ${code}`)
const alreadyMember = () => conflict('already_exists', 'The counterparty is already in the group')

const groupOf = (id: string) => ({ type: kind, id })

const readCreation = payloadReader(CounterpartyGroupCreation)
const readUpdate = payloadReader(CounterpartyGroupUpdate)
const readMember = payloadReader(CounterpartyGroupMember)
const readNothing = payloadReader(NoPayload)

const create: Executor = {
  async prepare(db, { vaultId }, step) {
    const { code } = readCreation(step.payload)
    assertNoTarget(step)
    if (await isCodeTaken(db, vaultId, code)) throw codeTaken(code)
    const facts: Partial<Facts> = { counterpartyGroupIds: [] }
    return { step, targetType: kind, targetId: null, baseVersion: null, facts }
  },
  async apply(trx, context, step) {
    return { resultId: await insertGroup(trx, readCreation(step.payload), byInitiator(context)) }
  },
}

const update = changing(
  readUpdate,
  async (db, vaultId, step) => toPrepared(step, await findLive(db, vaultId, step)),
  updateGroup,
)

const archive = changing(
  readNothing,
  async (db, vaultId, step) => toPrepared(step, await findLive(db, vaultId, step)),
  archiveGroup,
)

const add: Executor = {
  references: { counterpartyId: 'counterparty' },
  ...changing(
    readMember,
    async (db, vaultId, step, { counterpartyId }) => {
      const group = await findLive(db, vaultId, step)
      const counterparty = await findMember(db, vaultId, counterpartyId)
      if (counterparty === undefined) throw badRequest('counterpartyId', 'is not a counterparty of this vault')
      if (counterparty !== null) assertLive('counterparty', counterparty)
      if (counterparty?.groups.some(({ id }) => id === group?.id)) throw alreadyMember()
      return toPrepared(step, group, counterparty)
    },
    addMember,
  ),
}

const remove: Executor = {
  references: { counterpartyId: 'counterparty' },
  ...changing(
    readMember,
    async (db, vaultId, step, { counterpartyId }) => {
      const group = await findLive(db, vaultId, step)
      const counterparty = await findMember(db, vaultId, counterpartyId)
      if (counterparty === undefined) throw notFound('Membership')
      if (group !== null && counterparty !== null) {
        orNotFound(await findMembership(db, vaultId, { groupId: group.id, counterpartyId }), 'Membership')
      }
      return toPrepared(step, group, counterparty)
    },
    removeMember,
  ),
}

export const counterpartyGroupExecutors = {
  counterparty_group_create: create,
  counterparty_group_update: update,
  counterparty_group_archive: archive,
  counterparty_group_add: add,
  counterparty_group_remove: remove,
}

function findLive(db: Db | Trx, vaultId: string, step: Step): Promise<CounterpartyGroupRow | null> {
  return findTarget(kind, step, (id) => findGroup(db, vaultId, id))
}

/**
 * Returns the counterparty that a step names: null when an earlier step of the request creates it, undefined when it does not
 * exist.
 */
async function findMember(db: Db | Trx, vaultId: string, id: string): Promise<CounterpartyRow | null | undefined> {
  if (referenceOf(id) !== null) return null
  return (await findCounterparty(db, vaultId, id)) ?? undefined
}

function toPrepared(
  step: Step,
  group: CounterpartyGroupRow | null,
  counterparty: CounterpartyRow | null = null,
): PreparedStep {
  const facts: Partial<Facts> = {
    ...(group === null ? {} : { counterpartyGroupIds: [group.id] }),
    ...(counterparty === null ? {} : { counterparty: toFacts(counterparty) }),
  }
  return prepared(kind, step, group, facts)
}
