import type { Db, Trx } from '../../../db/client.ts'
import type { Initiator } from '../decisions/decide.ts'
import type { Decision } from '../decisions/decision.ts'
import { chainActions } from '../selectors/facts.ts'

/** The actions that wait as an approval request; a waiting transfer is an operation. */
export const gatedActions = [
  'create_address',
  ...chainActions,
  'category_assign',
  'category_edit',
  'hold_release',
  'transfer_resolve',
  'event_resolve',
  'transfer_replace',
  'rules_change',
  'passkey_add',
  'balance_adjust',
] as const

export type GatedAction = (typeof gatedActions)[number]

export type Step = {
  action: GatedAction
  /** The id of the target; null for a creation. `$step:N` if an earlier step of the request creates it. */
  targetId: string | null
  payload: Record<string, unknown>
}

export type StepContext = { vaultId: string; initiatorId: string; now: Date }

type TargetType =
  | 'address'
  | 'counterparty'
  | 'counterparty_group'
  | 'category_assignment'
  | 'hold'
  | 'transfer'
  | 'wallet_event'
  | 'change_set'
  | 'passkey'
  | 'adjustment'

/** A checked step, in the form that is stored, hashed, voted on and applied unchanged. */
export type PreparedStep = {
  step: Step
  /** The type of the target and of the result of the step. */
  targetType: TargetType
  targetId: string | null
  /** The version of the target at the request; null for a creation or a target that does not exist yet. */
  baseVersion: string | null
  /** The facts that policies may look at: see selectors/facts.ts. */
  facts: Record<string, unknown>
}

/** The functions with which the approval engine checks an action before the votes and carries it out in one transaction. */
export type Executor = {
  /**
   * Checks shape, target and database constraints, and changes nothing. Values of the form `$step:N` stand for results
   * that do not exist yet and are kept; the caller has checked that N is an earlier step.
   * @throws 400 with the path within the payload (or `targetId`), 404, 409
   */
  prepare(db: Db | Trx, context: StepContext, step: Step): Promise<PreparedStep>
  /**
   * Decides on a prepared step instead of the policies of the vault, for an action that other rules decide on. The last vote
   * calls it again; then only a block counts.
   */
  decide?(trx: Trx, context: StepContext, prepared: PreparedStep, initiator: Initiator): Promise<Decision>
  /**
   * Carries out the step, with every reference resolved. Locks the target and compares its version with `baseVersion`.
   * `baseVersion` is null if an earlier step of the request created or changed the target. `fetched` is the result of `prefetch`.
   * @throws StaleError when the target has another version; an AppError such as 409 when the step cannot be carried out
   */
  apply(
    trx: Trx,
    context: StepContext,
    step: Step,
    baseVersion: string | null,
    fetched: unknown,
  ): Promise<{ resultId: string }>
  /** True if auditors may request the action too, because it changes nothing in the vault. */
  isForAuditors?: true
  /** The fields of the payload that hold an id, by type: a `$step:N` there must refer to a result of this type. */
  references?: Readonly<Record<string, TargetType>>
  /**
   * For an action that needs a value from outside the database, for which no transaction may wait: fetches the value and calls
   * `use` with it. If `use` finds that the value is taken, repeats this with a new value. Safe to repeat.
   * @throws errors of `use`, or 502; `apply` throws the faults of the step itself
   */
  prefetch?<Result>(context: StepContext, step: Step, use: (fetched: unknown) => Promise<Result>): Promise<Result>
}

export type Executors = Readonly<Partial<Record<GatedAction, Executor>>>

/** The target changed after the step was requested. */
export class StaleError extends Error {
  constructor(reason = 'The target was changed after the request was created') {
    super(reason)
  }
}

const referenceForm = /^\$step:(0|[1-9]\d?)$/

/** Returns the index N of a value `$step:N`; null for other values. */
export function referenceOf(value: unknown): number | null {
  const match = typeof value === 'string' ? referenceForm.exec(value) : null
  return match === null ? null : Number(match[1])
}
