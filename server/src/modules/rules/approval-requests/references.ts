import { badRequest } from '../../../lib/errors.ts'
import { type Executor, type PreparedStep, referenceOf, type Step } from '../votes/executor.ts'

const marker = '$step:'

/** The references `$step:N` of a step, with their paths: relative to the payload, or `targetId`. */
type Mention = { path: string; text: string }

/**
 * Checks that every `$step:N` of a step names a step before it.
 * @throws 400 with the path of the first that does not
 */
export function assertReferences(step: Step, stepIndex: number): void {
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
export function assertReferenceTypes(one: PreparedStep, { references = {} }: Executor, earlier: PreparedStep[]): void {
  for (const { path, text } of mentionsOf(one.step)) {
    const wanted = path === 'targetId' ? one.targetType : references[path]
    const given = earlier[referenceOf(text)!]!
    if (wanted === undefined || given.targetType === wanted) continue
    throw badRequest(path, `${text} is a ${noun(given.targetType)}, not a ${noun(wanted)}`)
  }
}

/** The step with every reference replaced by the result it stands for. */
export function resolveReferences(step: Step, resultIds: string[]): Step {
  const resolve = (value: unknown): unknown => {
    const index = referenceOf(value)
    if (index !== null) return resultIds[index]
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
  }
  return {
    action: step.action,
    targetId: resolve(step.targetId) as string | null,
    payload: resolve(step.payload) as Record<string, unknown>,
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
