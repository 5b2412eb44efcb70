import { byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { notFound } from '../../../lib/errors.ts'
import type { CounterpartyFacts } from '../../rules/policies/facts.ts'
import { type Executor, type PreparedStep, referenceOf, type Step } from '../../rules/votes/executor.ts'
import {
  archiveCounterparty,
  assertLive,
  assertRemovable,
  assertRoom,
  insertCounterparty,
  updateCounterparty,
} from './actions.ts'
import { planAddresses } from './address-plan.ts'
import { type CounterpartyRow, findCounterparty } from './queries.ts'
import { CounterpartyCreation, CounterpartyUpdate, NoPayload } from './schema.ts'
import { assertNoTarget, targetOf } from './step-target.ts'

const readCreation = payloadReader(CounterpartyCreation)
const readUpdate = payloadReader(CounterpartyUpdate)
const readNothing = payloadReader(NoPayload)

const create: Executor = {
  async prepare(db, { vaultId }, step) {
    const payload = readCreation(step.payload)
    assertNoTarget(step)
    await planAddresses(db, vaultId, payload.addresses ?? [], { field: 'addresses' })
    const counterparty: CounterpartyFacts = { kind: payload.kind, groupIds: [] }
    return { step, targetType: 'counterparty', targetId: null, baseVersion: null, facts: { counterparty } }
  },
  async apply(trx, context, step) {
    return { resultId: await insertCounterparty(trx, readCreation(step.payload), byInitiator(context)) }
  },
}

const update: Executor = {
  async prepare(db, { vaultId }, step) {
    const { addAddresses = [], removeAddressIds = [] } = readUpdate(step.payload)
    const row = await findTarget(db, vaultId, step)
    if (row !== null) {
      assertRemovable(row, removeAddressIds)
      assertRoom(row, removeAddressIds.length, addAddresses.length)
    }
    await planAddresses(db, vaultId, addAddresses, { field: 'addAddresses', removedIds: removeAddressIds })
    return prepared(step, row)
  },
  async apply(trx, context, step, baseVersion) {
    const id = targetOf(step)
    await updateCounterparty(trx, { id, baseVersion }, readUpdate(step.payload), byInitiator(context))
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
    await archiveCounterparty(trx, { id, baseVersion }, byInitiator(context))
    return { resultId: id }
  },
}

export const counterpartyExecutors = {
  counterparty_create: create,
  counterparty_update: update,
  counterparty_archive: archive,
}

/** What policies may read of an existing counterparty. */
export function toFacts(row: CounterpartyRow): CounterpartyFacts {
  return {
    id: row.id,
    kind: row.kind,
    createdAt: row.created_at.toISOString(),
    groupIds: row.groups.map(({ id }) => id),
  }
}

/** The live counterparty that a step refers to; null when an earlier step of its chain creates it. */
async function findTarget(db: Db | Trx, vaultId: string, step: Step): Promise<CounterpartyRow | null> {
  const id = targetOf(step)
  if (referenceOf(id) !== null) return null
  const row = await findCounterparty(db, vaultId, id)
  if (row === null) throw notFound('Counterparty')
  assertLive(row)
  return row
}

function prepared(step: Step, row: CounterpartyRow | null): PreparedStep {
  return {
    step,
    targetType: 'counterparty',
    targetId: step.targetId,
    baseVersion: row === null ? null : String(row.version),
    facts: row === null ? {} : { counterparty: toFacts(row) },
  }
}
