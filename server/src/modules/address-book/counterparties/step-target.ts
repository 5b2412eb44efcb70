import { type By, byInitiator } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest, notFound } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { type Executor, referenceOf, StaleError, type Step } from '../../rules/votes/executor.ts'

/** The target of a change, and the version that it must still have; null: any version. */
export type Target = { id: string; baseVersion: string | null }

/** What is archived or changed by the actions on counterparties and their groups. */
type Versioned = { archived_at: Date | null; version: number }

/** @throws 400 when an action that creates names a target */
export function assertNoTarget(step: Step): void {
  if (step.targetId !== null) throw badRequest('targetId', `does not belong to ${step.action}`)
}

/**
 * The row that a step refers to; null when an earlier step of its chain creates it.
 * @throws 400 when the action names no target, 404; and as `assertLive`
 */
export async function findTarget<Row extends Versioned>(
  step: Step,
  noun: string,
  find: (id: string) => Promise<Row | null>,
  assertLive: (row: Row) => void,
): Promise<Row | null> {
  const id = targetOf(step)
  if (referenceOf(id) !== null) return null
  const row = orNotFound(await find(id), noun)
  assertLive(row)
  return row
}

/** How a step with a target is carried out: `change` gets the payload as `read` parses it. */
export function changing<Payload>(
  read: (payload: Record<string, unknown>) => Payload,
  change: (trx: Trx, target: Target, payload: Payload, by: By) => Promise<void>,
): Executor['apply'] {
  return async (trx, context, step, baseVersion) => {
    const id = targetOf(step)
    await change(trx, { id, baseVersion }, read(step.payload), byInitiator(context))
    return { resultId: id }
  }
}

/** @throws StaleError, 404 when there is no such row */
export function assertUnchanged<Row extends Versioned>(
  locked: Row | null,
  { baseVersion }: Target,
  noun: string,
): asserts locked is Row {
  if (locked === null) throw notFound(noun)
  if (baseVersion !== null && baseVersion !== String(locked.version)) {
    throw new StaleError(`The ${noun.toLowerCase()} was changed meanwhile`)
  }
}

/** @throws 400 when the action names no target */
function targetOf(step: Step): string {
  if (step.targetId === null) throw badRequest('targetId', `is required for ${step.action}`)
  return step.targetId
}
