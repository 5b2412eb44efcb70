import { type By, byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { type Executor, type PreparedStep, referenceOf, StaleError, type Step } from '../../rules/votes/executor.ts'

/** The two types of entries of the address book. Both have a version. An archived entry cannot be changed. */
const kinds = {
  counterparty: { noun: 'Counterparty', table: 'counterparties' },
  counterparty_group: { noun: 'Counterparty group', table: 'counterparty_groups' },
} as const
export type Kind = keyof typeof kinds
type Entry = { archived_at: Date | null; version: number }

/** The target of a change and the version that it must still have. Null accepts any version. */
export type Target = { id: string; baseVersion: string | null }

/** @throws 400 when an action that creates names a target */
export function assertNoTarget(step: Step): void {
  if (step.targetId !== null) throw badRequest('targetId', `does not belong to ${step.action}`)
}

/** @throws 409 for an archived entry */
export function assertLive(kind: Kind, { archived_at: archivedAt }: Pick<Entry, 'archived_at'>): void {
  if (archivedAt !== null) throw conflict('archived', `The ${kinds[kind].noun.toLowerCase()} is archived`)
}

/**
 * Returns the row that a step refers to, or null when an earlier step of the request creates the row.
 * @throws 400 when the action names no target, 404, 409 as `assertLive`
 */
export async function findTarget<Row extends Entry>(
  kind: Kind,
  step: Step,
  find: (id: string) => Promise<Row | null>,
): Promise<Row | null> {
  const id = targetOf(step)
  if (referenceOf(id) !== null) return null
  const row = orNotFound(await find(id), kinds[kind].noun)
  assertLive(kind, row)
  return row
}

export function prepared(
  targetType: Kind,
  step: Step,
  row: Entry | null,
  facts: PreparedStep['facts'] = {},
): PreparedStep {
  return { step, targetType, targetId: step.targetId, baseVersion: row === null ? null : String(row.version), facts }
}

/** Returns the check and the executor of an action with a target. Both get the payload as `read` parses it. */
export function changing<Payload>(
  read: (payload: Record<string, unknown>) => Payload,
  prepare: (db: Db | Trx, vaultId: string, step: Step, payload: Payload) => Promise<PreparedStep>,
  change: (trx: Trx, target: Target, payload: Payload, by: By) => Promise<void>,
): Executor {
  return {
    prepare: async (db, { vaultId }, step) => prepare(db, vaultId, step, read(step.payload)),
    async apply(trx, context, step, baseVersion) {
      const id = targetOf(step)
      await change(trx, { id, baseVersion }, read(step.payload), byInitiator(context))
      return { resultId: id }
    },
  }
}

type Looks = {
  name?: string
  description?: string | null
  avatarUri?: string | null
  color?: string | null
  emoji?: string | null
}

/**
 * Returns the columns of the fields that both types show. A field that a change leaves out is undefined, and Kysely does not
 * write it.
 */
export function toColumns({ name, description, avatarUri, color, emoji }: Looks) {
  return { name, description, avatar_uri: avatarUri, color, emoji }
}

/**
 * Locks an entry until the end of the transaction: with `update` before a change, with `share` while a row that refers
 * to the entry is created or deleted.
 */
export async function lockEntry(
  trx: Trx,
  kind: Kind,
  vaultId: string,
  id: string,
  strength: 'update' | 'share',
): Promise<Entry | null> {
  const query = trx
    // Both tables have these columns.
    .selectFrom(kinds[kind].table as 'counterparties')
    .select(['archived_at', 'version'])
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
  return (await (strength === 'update' ? query.forUpdate() : query.forShare()).executeTakeFirst()) ?? null
}

/** @throws StaleError, 404, 409 as `assertLive` */
export async function lockTarget(
  trx: Trx,
  kind: Kind,
  vaultId: string,
  { id, baseVersion }: Target,
  strength: 'update' | 'share' = 'update',
): Promise<void> {
  const locked = await lockEntry(trx, kind, vaultId, id, strength)
  if (locked === null) throw notFound(kinds[kind].noun)
  if (baseVersion !== null && baseVersion !== String(locked.version)) throw new StaleError()
  assertLive(kind, locked)
}

/** @throws 400 when the action names no target */
function targetOf(step: Step): string {
  if (step.targetId === null) throw badRequest('targetId', `is required for ${step.action}`)
  return step.targetId
}
