import { AppError } from '../../../lib/errors.ts'
import type { RequestAction } from './payload.ts'

/** Runs the work of one step; in a chain its faults get the path of the step. */
export async function inStep<Result>(action: RequestAction, i: number, work: () => Promise<Result>): Promise<Result> {
  if (action !== 'composite') return work()
  try {
    return await work()
  } catch (error) {
    throw error instanceof AppError ? withStep(error, i) : error
  }
}

function withStep(error: AppError, i: number): AppError {
  const { status, message, code, headers, details } = error
  const common = { headers, cause: error, ...(code === undefined ? {} : { code }) }
  if (!Array.isArray(details)) {
    return new AppError(status, `steps.${i}: ${message}`, { ...common, ...(details === undefined ? {} : { details }) })
  }
  const faults = details.map((fault) => ({ ...fault, field: pathInRequest(fault.field, i) }))
  const first = faults[0]
  const text = first === undefined ? `steps.${i}: ${message}` : `${first.field}: ${first.message}`
  return new AppError(status, text, { ...common, details: faults })
}

function pathInRequest(field: string, i: number): string {
  if (field === 'targetId') return `steps.${i}.targetId`
  return field === '' || field === 'body' ? `steps.${i}.payload` : `steps.${i}.payload.${field}`
}
