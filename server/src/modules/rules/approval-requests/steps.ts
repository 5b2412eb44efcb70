import { sql } from 'kysely'
import { AnswerNeededError, askingOutside } from '../../../db/ask-outside.ts'
import type { Trx } from '../../../db/client.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { AppError, badRequest } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { decide, factsOfInitiator, type Initiator } from '../decisions/decide.ts'
import type { Decision } from '../decisions/decision.ts'
import type { CounterpartyFacts, Facts } from '../selectors/facts.ts'
import {
  type Executor,
  type Executors,
  type GatedAction,
  type PreparedStep,
  referenceOf,
  StaleError,
  type Step,
  type StepContext,
} from '../votes/executor.ts'
import { inPart, replaceTexts } from '../votes/parts.ts'

type Chain<One = Step> = { context: StepContext; action: RequestAction; steps: One[]; executors: Executors }

/**
 * Checks every step and brings it into the form that is stored, hashed and applied.
 * @throws 400 with paths into the request, 404, 409
 */
export async function prepareSteps(trx: Trx, { context, action, steps, executors }: Chain): Promise<PreparedStep[]> {
  for (const [i, step] of steps.entries()) {
    await inStep(action, i, async () => assertReferences(step, i))
  }
  const prepared: PreparedStep[] = []
  for (const [i, step] of steps.entries()) {
    const executor = executorOf(executors, step.action)
    const preparedStep = await inStep(action, i, async () => {
      const outcome = await executor.prepare(trx, context, step)
      assertReferenceTypes(outcome, executor, prepared)
      return withEarlierKind(outcome, executor, prepared)
    })
    // Only the first step on a target compares its version, because that step changes it.
    const isTouched = preparedStep.targetId !== null && prepared.some((earlier) => isSameTarget(earlier, preparedStep))
    prepared.push(isTouched ? { ...preparedStep, baseVersion: null } : preparedStep)
  }
  return prepared
}

function isSameTarget(a: PreparedStep, b: PreparedStep): boolean {
  return a.targetType === b.targetType && a.targetId === b.targetId
}

/**
 * Returns the step with the kind of its counterparty after the steps before it. Other facts of a counterparty that an earlier
 * step creates are still missing: its id, its age and its groups.
 */
function withEarlierKind(step: PreparedStep, executor: Executor, earlier: PreparedStep[]): PreparedStep {
  const counterpartyId = counterpartyOf(step, executor)
  const kind = counterpartyId === null ? undefined : kindAfter(earlier, originOf(counterpartyId, earlier))
  if (kind === undefined) return step
  const known = step.facts.counterparty as CounterpartyFacts | undefined
  return { ...step, facts: { ...step.facts, counterparty: { ...known, kind } satisfies CounterpartyFacts } }
}

/** The counterparty that a step names, as target or in its payload: an id, or `$step:N`. */
function counterpartyOf({ targetType, targetId, step }: PreparedStep, { references = {} }: Executor): string | null {
  if (targetType === 'counterparty') return targetId
  const field = Object.keys(references).find((name) => references[name] === 'counterparty')
  return field === undefined ? null : (step.payload[field] as string)
}

function kindAfter(steps: PreparedStep[], origin: string): string | undefined {
  let kind: string | undefined
  for (const [i, { targetType, targetId, step, facts }] of steps.entries()) {
    if (targetType !== 'counterparty') continue
    if ((targetId === null ? `$step:${i}` : originOf(targetId, steps)) !== origin) continue
    kind =
      (step.payload.kind as string | undefined) ?? kind ?? (facts.counterparty as CounterpartyFacts | undefined)?.kind
  }
  return kind
}

/** Returns the id of an existing counterparty, or the `$step:N` of its creation, also for a reference to an update in between. */
function originOf(id: string, steps: PreparedStep[]): string {
  const index = referenceOf(id)
  const target = index === null ? null : steps[index]!.targetId
  return target === null ? id : originOf(target, steps)
}

/** Decides on every step by the policies of the vault, or by the executor if its action has other rules. */
export async function decideSteps(
  trx: Trx,
  context: StepContext,
  initiator: Initiator,
  steps: PreparedStep[],
  executors: Executors,
): Promise<Decision[]> {
  const { vaultId, now } = context
  const decisions: Decision[] = []
  for (const prepared of steps) {
    const { step, facts } = prepared
    const executor = executorOf(executors, step.action)
    const known = { ...facts, ...factsOfInitiator(initiator, now) } as Facts
    decisions.push(
      executor.decide === undefined
        ? await decide(trx, { vaultId, actionType: step.action, initiator, facts: known })
        : await executor.decide(trx, context, prepared, initiator),
    )
  }
  return decisions
}

export type StepResult = { stepIndex: number; action: string; resultId: string }

type Application = Chain<PreparedStep> & {
  /** The result of `prefetch` of each step; null when it has not run yet. */
  fetched: unknown[] | null
}

/** Thrown when steps need data from outside the database: see `prefetching`. */
class PrefetchNeededError extends AnswerNeededError<Application> {}

/**
 * Carries out all steps in the transaction. Each step gets the results of the steps before it.
 * @throws PrefetchNeededError, StaleError, and the errors of the executors; the caller must then roll back earlier steps
 */
export async function applySteps(trx: Trx, application: Application): Promise<StepResult[]> {
  const { context, action, steps, executors, fetched } = application
  if (fetched === null && steps.some(({ step }) => executors[step.action]?.prefetch !== undefined)) {
    throw new PrefetchNeededError(application)
  }
  const results: StepResult[] = []
  for (const [stepIndex, { step, baseVersion }] of steps.entries()) {
    const resolved = replaceTexts(step, (text) => {
      const index = referenceOf(text)
      return index === null ? text : results[index]?.resultId
    }) as Step
    const { resultId } = await inStep(action, stepIndex, () =>
      executorOf(executors, step.action).apply(trx, context, resolved, baseVersion, fetched?.[stepIndex]),
    )
    results.push({ stepIndex, action: step.action, resultId })
  }
  return results
}

type Failure = { event: 'applyFailed' | 'targetChanged'; reason: string }

/** As `applySteps`, but if a step fails, all steps are rolled back to a savepoint and the transaction continues. */
export async function tryApplySteps(trx: Trx, application: Application): Promise<{ results: StepResult[] } | Failure> {
  await sql`savepoint apply_steps`.execute(trx)
  try {
    return { results: await applySteps(trx, application) }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === null) throw error
    await sql`rollback to savepoint apply_steps`.execute(trx)
    return failure
  }
}

/**
 * Returns the failure if the request caused the error. Errors of the database or the wallet service do not end a request, and neither
 * does a halt of the vault, which operators lift: the vote can be given again.
 */
function failureOf(error: unknown): Failure | null {
  if (error instanceof AppError && error.reason === 'vault_halted') return null
  if (error instanceof StaleError) return { event: 'targetChanged', reason: error.message }
  if (error instanceof AppError && error.status < 500) return { event: 'applyFailed', reason: error.message }
  return null
}

/**
 * Runs `work` without data from outside the database. If a step needs such data, the executors fetch the data without an
 * open transaction, and `work` runs again with the data.
 */
export function prefetching<Result>(work: (fetched: unknown[] | null) => Promise<Result>): Promise<Result> {
  return askingOutside(PrefetchNeededError, work, (application) => fetchFrom(application, [], work))
}

async function fetchFrom<Result>(
  application: Application,
  fetched: unknown[],
  work: (fetched: unknown[]) => Promise<Result>,
): Promise<Result> {
  const { context, steps, executors } = application
  const next = steps[fetched.length]
  if (next === undefined) return work(fetched)
  const goOn = (result: unknown) => fetchFrom(application, [...fetched, result], work)
  const executor = executorOf(executors, next.step.action)
  return executor.prefetch === undefined ? goOn(null) : executor.prefetch(context, next.step, goOn)
}

/** @throws for an action of a newer version of the service */
function executorOf(executors: Executors, action: PreparedStep['step']['action']): Executor {
  const executor = executors[action]
  if (executor === undefined) throw new Error(`There is no executor for ${action}`)
  return executor
}

const marker = '$step:'

/** The references `$step:N` of a step, with their paths: relative to the payload, or `targetId`. */
type Mention = { path: string; text: string }

/**
 * Checks that every `$step:N` of a step names a step before it.
 * @throws 400 with the path of the first reference that does not
 */
function assertReferences(step: Step, stepIndex: number): void {
  for (const { path, text } of mentionsOf(step)) {
    const index = referenceOf(text)
    if (index === null) throw badRequest(path, `must be ${marker} and the number of an earlier step`)
    if (index >= stepIndex) throw badRequest(path, `${text} does not name an earlier step`)
  }
}

/**
 * Checks that a reference in place of an id refers to a step with a result of the right kind.
 * @throws 400 with the path of the first reference that does not
 */
function assertReferenceTypes(step: PreparedStep, { references = {} }: Executor, earlier: PreparedStep[]): void {
  for (const { path, text } of mentionsOf(step.step)) {
    const wanted = path === 'targetId' ? step.targetType : references[path]
    const referenced = earlier[referenceOf(text)!]!
    if (wanted === undefined || referenced.targetType === wanted) continue
    throw badRequest(path, `${text} is a ${noun(referenced.targetType)}, not a ${noun(wanted)}`)
  }
}

function mentionsOf({ targetId, payload }: Step): Mention[] {
  const mentions: Mention[] = []
  const collect = (value: unknown, path: string) => {
    if (typeof value === 'string') {
      if (value.startsWith(marker)) mentions.push({ path, text: value })
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) collect(member, path === '' ? name : `${path}.${name}`)
    }
  }
  collect(targetId, 'targetId')
  collect(payload, '')
  return mentions
}

const noun = (targetType: string) => targetType.replaceAll('_', ' ')

/** Runs the work of a step; in a composite request its errors get the path of the step. */
function inStep<Result>(action: RequestAction, i: number, work: () => Promise<Result>): Promise<Result> {
  return action === 'composite' ? inPart(`steps.${i}`, work) : work()
}

/** The name of a gated action, or `composite` for several steps. */
export type RequestAction = GatedAction | 'composite'

/** The content to which votes and execution are bound: the prepared steps and the initiator. */
type BoundPayload = {
  requestId: string
  vaultId: string
  initiatorId: string
  action: RequestAction
  steps: PreparedStep[]
}

/** The payload of a stored request. */
export function boundPayloadOf(
  row: { id: string; vault_id: string; initiator_id: string } & Pick<BoundPayload, 'action' | 'steps'>,
): BoundPayload {
  const { id: requestId, vault_id: vaultId, initiator_id: initiatorId, action, steps } = row
  return { requestId, vaultId, initiatorId, action, steps }
}

/** SHA-256 over the canonical JSON of the payload. */
export function hashPayload(payload: BoundPayload): Buffer {
  return sha256(canonicalJson(payload))
}
