import { byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { badRequest, notFound } from '../../../lib/errors.ts'
import type { Facts } from '../../rules/policies/facts.ts'
import { type Executor, type PreparedStep, referenceOf, type Step } from '../../rules/votes/executor.ts'
import { assertLive } from '../counterparties/actions.ts'
import { toFacts } from '../counterparties/executors.ts'
import { type CounterpartyRow, findCounterparty } from '../counterparties/queries.ts'
import { NoPayload } from '../counterparties/schema.ts'
import { assertNoTarget, targetOf } from '../counterparties/step-target.ts'
import {
  addMember,
  alreadyMember,
  archiveGroup,
  assertGroupLive,
  codeTaken,
  insertGroup,
  removeMember,
  updateGroup,
} from './actions.ts'
import { type CounterpartyGroupRow, findGroup, findMembership, isCodeTaken } from './queries.ts'
import { CounterpartyGroupCreation, CounterpartyGroupMember, CounterpartyGroupUpdate } from './schema.ts'

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
    return { step, targetType: 'counterparty_group', targetId: null, baseVersion: null, facts }
  },
  async apply(trx, context, step) {
    return { resultId: await insertGroup(trx, readCreation(step.payload), byInitiator(context)) }
  },
}

const update: Executor = {
  async prepare(db, { vaultId }, step) {
    readUpdate(step.payload)
    return prepared(step, await findTarget(db, vaultId, step))
  },
  async apply(trx, context, step, baseVersion) {
    const id = targetOf(step)
    await updateGroup(trx, { id, baseVersion }, readUpdate(step.payload), byInitiator(context))
    return { resultId: id }
  },
}

const archive: Executor = {
  async prepare(db, { vaultId }, step) {
    readNothing(step.payload)
    return prepared(step, await findTarget(db, vaultId, step))
  },
  async apply(trx, context, step, baseVersion) {
    const id = targetOf(step)
    await archiveGroup(trx, { id, baseVersion }, byInitiator(context))
    return { resultId: id }
  },
}

const add: Executor = {
  references: { counterpartyId: 'counterparty' },
  async prepare(db, { vaultId }, step) {
    const { counterpartyId } = readMember(step.payload)
    const group = await findTarget(db, vaultId, step)
    const counterparty = await findMember(db, vaultId, counterpartyId)
    if (counterparty === undefined) throw badRequest('counterpartyId', 'is not a counterparty of this vault')
    if (counterparty !== null) assertLive(counterparty)
    if (counterparty?.groups.some(({ id }) => id === group?.id)) throw alreadyMember()
    return prepared(step, group, counterparty)
  },
  async apply(trx, context, step, baseVersion) {
    const id = targetOf(step)
    await addMember(trx, { id, baseVersion }, readMember(step.payload).counterpartyId, byInitiator(context))
    return { resultId: id }
  },
}

const remove: Executor = {
  references: { counterpartyId: 'counterparty' },
  async prepare(db, { vaultId }, step) {
    const { counterpartyId } = readMember(step.payload)
    const group = await findTarget(db, vaultId, step)
    const counterparty = await findMember(db, vaultId, counterpartyId)
    if (counterparty === undefined) throw notFound('Membership')
    if (group !== null && counterparty !== null) {
      const membership = await findMembership(db, vaultId, { groupId: group.id, counterpartyId })
      if (membership === null) throw notFound('Membership')
    }
    return prepared(step, group, counterparty)
  },
  async apply(trx, context, step, baseVersion) {
    const id = targetOf(step)
    await removeMember(trx, { id, baseVersion }, readMember(step.payload).counterpartyId, byInitiator(context))
    return { resultId: id }
  },
}

export const counterpartyGroupExecutors = {
  counterparty_group_create: create,
  counterparty_group_update: update,
  counterparty_group_archive: archive,
  counterparty_group_add: add,
  counterparty_group_remove: remove,
}

/** The live group that a step refers to; null when an earlier step of its chain creates it. */
async function findTarget(db: Db | Trx, vaultId: string, step: Step): Promise<CounterpartyGroupRow | null> {
  const id = targetOf(step)
  if (referenceOf(id) !== null) return null
  const row = await findGroup(db, vaultId, id)
  if (row === null) throw notFound('Counterparty group')
  assertGroupLive(row)
  return row
}

/** The counterparty that a step names: null when an earlier step creates it, undefined when it does not exist. */
async function findMember(db: Db | Trx, vaultId: string, id: string): Promise<CounterpartyRow | null | undefined> {
  if (referenceOf(id) !== null) return null
  return (await findCounterparty(db, vaultId, id)) ?? undefined
}

function prepared(
  step: Step,
  group: CounterpartyGroupRow | null,
  counterparty: CounterpartyRow | null = null,
): PreparedStep {
  const facts: Partial<Facts> = {
    ...(group === null ? {} : { counterpartyGroupIds: [group.id] }),
    ...(counterparty === null ? {} : { counterparty: toFacts(counterparty) }),
  }
  return {
    step,
    targetType: 'counterparty_group',
    targetId: step.targetId,
    baseVersion: group === null ? null : String(group.version),
    facts,
  }
}
