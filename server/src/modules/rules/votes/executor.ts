import type { Db, Trx } from '../../../db/client.ts'
import type { Decision } from '../policies/decision.ts'
import type { Initiator } from '../policies/queries.ts'

/** The actions that go through an approval request; transfers wait as what they are. */
export const gatedActions = [
  'create_address',
  'counterparty_create',
  'counterparty_update',
  'counterparty_archive',
  'counterparty_group_create',
  'counterparty_group_update',
  'counterparty_group_archive',
  'counterparty_group_add',
  'counterparty_group_remove',
  'category_assign',
  'category_edit',
] as const

export type GatedAction = (typeof gatedActions)[number]

export type Step = {
  action: GatedAction
  /** What is changed; null for a creation. `$step:N` in a chain whose earlier step makes it. */
  targetId: string | null
  payload: Record<string, unknown>
}

export type StepContext = { vaultId: string; initiatorId: string; now: Date }

export type TargetType = 'address' | 'counterparty' | 'counterparty_group' | 'category_assignment'

/** A step that was found possible, in the form that is stored, hashed, voted on and applied unchanged. */
export type PreparedStep = {
  step: Step
  /** What `targetId` names, and what the result of the step is. */
  targetType: TargetType
  targetId: string | null
  /** The version of the target that the step was asked for; null for a creation or a target that does not exist yet. */
  baseVersion: string | null
  /** What policies may look at: see policies/facts.ts. */
  facts: Record<string, unknown>
}

/** What the approval engine knows of an action: how to check it before, and how to do it in one transaction. */
export type Executor = {
  /**
   * Checks shape, target and what the database would refuse, and changes nothing. Values of the form `$step:N` stand
   * for results that do not exist yet: they are taken as they are; that N is an earlier step has been checked.
   * @throws 400 with the path within the payload (or `targetId`), 404, 409
   */
  prepare(db: Db | Trx, context: StepContext, step: Step): Promise<PreparedStep>
  /**
   * Decides on a prepared step in place of the policies of the vault, for an action that is governed by its target; asked
   * again by the last vote, when only a block counts.
   */
  decide?(trx: Trx, context: StepContext, prepared: PreparedStep, initiator: Initiator): Promise<Decision>
  /**
   * Does it, with every reference resolved. The target is locked and its version compared with `baseVersion`, unless
   * that is null: an earlier step of the same chain made or changed the target. `fetched` is what `prefetch` found.
   * @throws StaleError when the target is no longer that version; 409 and the like when it cannot be done
   */
  apply(
    trx: Trx,
    context: StepContext,
    step: Step,
    baseVersion: string | null,
    fetched: unknown,
  ): Promise<{ resultId: string }>
  /** The fields of the payload that hold an id, and of what: a `$step:N` there must be the result of such a step. */
  references?: Readonly<Record<string, TargetType>>
  /**
   * For an action that needs something from outside the database, which no transaction may wait for: fetches it and
   * calls `use` with it, again with something fresh as long as it turns out to be taken. Safe to repeat.
   * @throws what `use` throws, or 502; a fault of the step itself is left for `apply` to throw
   */
  prefetch?<Result>(context: StepContext, step: Step, use: (fetched: unknown) => Promise<Result>): Promise<Result>
}

export type Executors = Readonly<Partial<Record<GatedAction, Executor>>>

/** The target changed since the step was asked for. */
export class StaleError extends Error {}

const referenceForm = /^\$step:(0|[1-9]\d?)$/

/** The index of an earlier step that a value stands for, or null. */
export function referenceOf(value: unknown): number | null {
  const match = typeof value === 'string' ? referenceForm.exec(value) : null
  return match === null ? null : Number(match[1])
}
