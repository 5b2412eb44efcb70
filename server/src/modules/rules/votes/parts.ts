import { AppError } from '../../../lib/errors.ts'

/** Requests of several parts, such as steps or changes of a change set. Each part may refer to earlier parts. */

/** Runs the work of one part, such as `steps.0`; its errors get the path of the part. */
export async function inPart<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof AppError ? withPath(error, part) : error
  }
}

function withPath(error: AppError, part: string): AppError {
  const { reason, message, code, headers, details } = error
  const common = { headers, cause: error, code }
  if (!Array.isArray(details)) return new AppError(reason, `${part}: ${message}`, { ...common, details })
  const faults = details.map((fault) => ({ ...fault, field: `${part}.${pathInPart(fault.field)}` }))
  const first = faults[0]
  const text = first === undefined ? `${part}: ${message}` : `${first.field}: ${first.message}`
  return new AppError(reason, text, { ...common, details: faults })
}

function pathInPart(field: string): string {
  if (field === 'targetId') return field
  return field === '' || field === 'body' ? 'payload' : `payload.${field}`
}

/** Returns the value with every text in it replaced, such as a reference by its id. */
export function replaceTexts(value: unknown, replace: (text: string) => unknown): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((element) => replaceTexts(element, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceTexts(member, replace)]))
}
