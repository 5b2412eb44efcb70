import type { Static } from 'typebox'
import { type By, byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { addressesPerCounterpartyMax } from '../../../lib/limits.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { assertNotHeld, findActiveHold, shareHoldLock } from '../../rules/holds/active.ts'
import type { CounterpartyFacts } from '../../rules/selectors/facts.ts'
import type { Executor, Step } from '../../rules/votes/executor.ts'
import { type PlannedAddress, planAddresses } from './address-plan.ts'
import { type CounterpartyRow, findCounterparty } from './queries.ts'
import { CounterpartyCreation, CounterpartyUpdate, NoPayload } from './schema.ts'
import { assertNoTarget, changing, findTarget, lockTarget, prepared, type Target, toColumns } from './step-target.ts'

type Creation = Static<typeof CounterpartyCreation>
type Update = Static<typeof CounterpartyUpdate>

/** @throws 400 and 409 as `planAddresses` */
export async function insertCounterparty(trx: Trx, body: Creation, by: By): Promise<string> {
  const { vaultId, actorId, now } = by
  const planned = await planAddresses(trx, vaultId, body.addresses ?? [], { field: 'addresses' })
  const id = newId(now)
  await trx
    .insertInto('counterparties')
    .values({
      vault_id: vaultId,
      id,
      name: body.name,
      kind: body.kind,
      description: body.description ?? null,
      avatar_uri: body.avatarUri ?? null,
      color: body.color ?? null,
      emoji: body.emoji ?? null,
      created_by_id: actorId,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await insertAddresses(trx, { vaultId, counterpartyId: id, planned, now })
  const details = { name: body.name, kind: body.kind, addresses: planned.map(toAuditedAddress) }
  await audit(trx, by, 'counterparty.created', { type: 'counterparty', id }, details)
  return id
}

/**
 * Changes a counterparty and, in the same step, removes and adds addresses.
 * @throws StaleError, 404 for the counterparty or an address to remove, 409 when it is archived, 400 and 409 as `planAddresses`
 */
export async function updateCounterparty(trx: Trx, target: Target, body: Update, by: By): Promise<void> {
  const { vaultId, now } = by
  const row = await lockForChange(trx, vaultId, target)
  const { addAddresses = [], removeAddressIds = [], ...fields } = body
  const removed = row.addresses.filter(({ id }) => removeAddressIds.includes(id))
  assertRemovable(row, removeAddressIds)
  const planned = await planAddresses(trx, vaultId, addAddresses, {
    field: 'addAddresses',
    removedIds: removeAddressIds,
  })
  assertRoom(row, removed.length, planned.length)

  if (removed.length > 0) {
    await trx
      .deleteFrom('counterparty_addresses')
      .where('vault_id', '=', vaultId)
      .where('counterparty_id', '=', row.id)
      .where('id', 'in', removeAddressIds)
      .execute()
  }
  await insertAddresses(trx, { vaultId, counterpartyId: row.id, planned, now })
  await trx
    .updateTable('counterparties')
    .set((value) => ({
      ...toColumns(fields),
      kind: fields.kind,
      version: value('version', '+', 1),
      updated_at: now,
    }))
    .where('vault_id', '=', vaultId)
    .where('id', '=', row.id)
    .execute()
  await audit(
    trx,
    by,
    'counterparty.updated',
    { type: 'counterparty', id: row.id },
    {
      changes: changedFields({ ...row, avatarUri: row.avatar_uri }, fields),
      addedAddresses: planned.map(toAuditedAddress),
      removedAddresses: removed.map(toAuditedAddress),
    },
  )
}

/** @throws StaleError, 404, 409 when it is already archived */
export async function archiveCounterparty(trx: Trx, target: Target, _body: object, by: By): Promise<void> {
  const { vaultId, now } = by
  const row = await lockForChange(trx, vaultId, target)
  await trx
    .updateTable('counterparties')
    .set((value) => ({ archived_at: now, version: value('version', '+', 1), updated_at: now }))
    .where('vault_id', '=', vaultId)
    .where('id', '=', row.id)
    .execute()
  await audit(trx, by, 'counterparty.archived', { type: 'counterparty', id: row.id }, { name: row.name })
}

/** @throws 404 for an address that the counterparty does not have */
function assertRemovable(row: CounterpartyRow, addressIds: string[]): void {
  if (addressIds.some((id) => !row.addresses.some((address) => address.id === id))) {
    throw notFound('Counterparty address')
  }
}

/** @throws 409 when the counterparty would have more addresses than fit into an answer */
function assertRoom(row: CounterpartyRow, removed: number, added: number): void {
  if (row.addresses.length - removed + added > addressesPerCounterpartyMax) {
    throw conflict('limit_reached', `A counterparty has at most ${addressesPerCounterpartyMax} addresses`)
  }
}

async function lockForChange(trx: Trx, vaultId: string, target: Target): Promise<CounterpartyRow> {
  await shareHoldLock(trx, vaultId)
  await lockTarget(trx, 'counterparty', vaultId, target)
  await assertCounterpartyNotHeld(trx, vaultId, target.id)
  return (await findCounterparty(trx, vaultId, target.id))!
}

/** Refuses to remove addresses of a held counterparty, because its hold covers them. @throws 409 */
async function assertCounterpartyNotHeld(db: Db | Trx, vaultId: string, counterpartyId: string): Promise<void> {
  assertNotHeld(await findActiveHold(db, { vaultId, ofVault: false, counterpartyId }))
}

type Addition = { vaultId: string; counterpartyId: string; planned: PlannedAddress[]; now: Date }

async function insertAddresses(trx: Trx, { vaultId, counterpartyId, planned, now }: Addition): Promise<void> {
  if (planned.length === 0) return
  // Sorted ids keep the addresses in the order of the request.
  const ids = planned.map(() => newId(now)).sort()
  const rows = planned.map(({ networkId, address, key, label }, i) => ({
    vault_id: vaultId,
    id: ids[i]!,
    counterparty_id: counterpartyId,
    network_id: networkId,
    address,
    address_key: key,
    label,
    created_at: now,
  }))
  // Rows are inserted in the order of their keys, so that two of these transactions cannot deadlock.
  rows.sort((a, b) => (`${a.network_id} ${a.address_key}` < `${b.network_id} ${b.address_key}` ? -1 : 1))
  await trx
    .insertInto('counterparty_addresses')
    .values(rows)
    .execute()
    .catch(
      onViolation('counterparty_addresses_once', () =>
        conflict('already_exists', 'One of the addresses was assigned to another counterparty in the meantime'),
      ),
    )
}

function toAuditedAddress({ network, address }: { network: string; address: string }) {
  return { network, address }
}

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

const update = changing(
  readUpdate,
  async (db, vaultId, step, { addAddresses = [], removeAddressIds = [] }) => {
    const row = await findLive(db, vaultId, step)
    if (row !== null) {
      assertRemovable(row, removeAddressIds)
      assertRoom(row, removeAddressIds.length, addAddresses.length)
    }
    await planAddresses(db, vaultId, addAddresses, { field: 'addAddresses', removedIds: removeAddressIds })
    return toPrepared(step, row)
  },
  updateCounterparty,
)

const archive = changing(
  readNothing,
  async (db, vaultId, step) => toPrepared(step, await findLive(db, vaultId, step)),
  archiveCounterparty,
)

export const counterpartyExecutors = {
  counterparty_create: create,
  counterparty_update: update,
  counterparty_archive: archive,
}

/** Returns the facts of an existing counterparty that policies may read. */
export function toFacts(row: CounterpartyRow): CounterpartyFacts {
  return {
    id: row.id,
    kind: row.kind,
    createdAt: row.created_at.toISOString(),
    groupIds: row.groups.map(({ id }) => id),
  }
}

async function findLive(db: Db | Trx, vaultId: string, step: Step): Promise<CounterpartyRow | null> {
  const row = await findTarget('counterparty', step, (id) => findCounterparty(db, vaultId, id))
  if (row !== null) await assertCounterpartyNotHeld(db, vaultId, row.id)
  return row
}

const toPrepared = (step: Step, row: CounterpartyRow | null) =>
  prepared('counterparty', step, row, row === null ? {} : { counterparty: toFacts(row) })
