import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Executor, type Executors, type PreparedStep, StaleError, type StepContext } from '../votes/executor.ts'
import type { RequestAction } from './payload.ts'
import { resolveReferences } from './references.ts'
import { inStep } from './step-faults.ts'

export type StepResult = { stepIndex: number; action: string; resultId: string }

export type Application = {
  context: StepContext
  action: RequestAction
  steps: PreparedStep[]
  executors: Executors
  /** The result of `prefetch` of each step; null: it has not run yet. */
  fetched: unknown[] | null
}

/** Thrown when steps need something from outside the database: see `prefetching`. */
export class PrefetchNeededError extends Error {
  readonly application: Application
  constructor(application: Application) {
    super('Something must be fetched before the transaction')
    this.application = application
  }
}

/**
 * Carries out all steps in the given transaction, each with the results of those before it.
 * @throws PrefetchNeededError, StaleError, and the errors of the executors; the caller must then roll back earlier steps
 */
export async function applySteps(trx: Trx, application: Application): Promise<StepResult[]> {
  const { context, action, steps, executors, fetched } = application
  if (fetched === null && steps.some(({ step }) => executors[step.action]?.prefetch !== undefined)) {
    throw new PrefetchNeededError(application)
  }
  const results: StepResult[] = []
  for (const [stepIndex, { step, baseVersion }] of steps.entries()) {
    const resolved = resolveReferences(
      step,
      results.map(({ resultId }) => resultId),
    )
    const { resultId } = await inStep(action, stepIndex, () =>
      executorOf(executors, step.action).apply(trx, context, resolved, baseVersion, fetched?.[stepIndex]),
    )
    results.push({ stepIndex, action: step.action, resultId })
  }
  return results
}

type Attempt = { results: StepResult[] } | { event: 'applyFailed' | 'targetChanged'; reason: string }

/** As `applySteps`, but if one step fails, all are rolled back to a savepoint and the transaction continues. */
export async function tryApplySteps(trx: Trx, application: Application): Promise<Attempt> {
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

/** The failure if the request itself caused the error; errors of the database or the wallet service do not end a request. */
function failureOf(error: unknown): { event: 'applyFailed' | 'targetChanged'; reason: string } | null {
  if (error instanceof StaleError)
    return { event: 'targetChanged', reason: 'The target was changed after the request was created' }
  if (error instanceof AppError && error.status < 500) return { event: 'applyFailed', reason: error.message }
  return null
}

/**
 * Runs `work`, first without data from outside the database. If a step needs some, the executors fetch it without an
 * open transaction, and `work` runs again with it.
 */
export async function prefetching<Result>(work: (fetched: unknown[] | null) => Promise<Result>): Promise<Result> {
  try {
    return await work(null)
  } catch (error) {
    if (!(error instanceof PrefetchNeededError)) throw error
    return fetchFrom(error.application, [], work)
  }
}

async function fetchFrom<Result>(
  application: Application,
  fetched: unknown[],
  work: (fetched: unknown[]) => Promise<Result>,
): Promise<Result> {
  const { context, steps, executors } = application
  const next = steps[fetched.length]
  if (next === undefined) return work(fetched)
  const goOn = (one: unknown) => fetchFrom(application, [...fetched, one], work)
  const executor = executorOf(executors, next.step.action)
  return executor.prefetch === undefined ? goOn(null) : executor.prefetch(context, next.step, goOn)
}

/** Only a request of a newer version of the service names an action that this one does not know. */
export function executorOf(executors: Executors, action: PreparedStep['step']['action']): Executor {
  const executor = executors[action]
  if (executor === undefined) throw new Error(`There is no executor for ${action}`)
  return executor
}
