import { ConnectionError, StrongroomError } from '@strongroom/sdk'
import type { FieldValues, Path, UseFormSetError } from 'react-hook-form'
import { said } from './language.ts'

/** A key under which the service carries a write out once, however often it is sent. Made when the form opens. */
export function newIdempotencyKey(): string {
  // Not randomUUID: browsers have that on secure origins only.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Which fields of a request the service refused, and why: `amount`, `addresses.0.address`. */
export function faultsOf(error: unknown): { field: string; message: string }[] {
  const details = error instanceof StrongroomError ? error.body?.details : undefined
  if (!Array.isArray(details)) return []
  return details.map(({ field, message }: { field: string; message: string }) => ({ field, message: said(message) }))
}

/**
 * Puts the faults that the service found at the fields of the form.
 * @returns the error if some of it has no field here, and therefore must be shown above the form
 */
export function showFaults<Values extends FieldValues>(
  error: unknown,
  fields: readonly Path<Values>[],
  setError: UseFormSetError<Values>,
): unknown {
  const faults = faultsOf(error)
  const known = faults.filter(({ field }) => (fields as readonly string[]).includes(field))
  for (const { field, message } of known) setError(field as Path<Values>, { message })
  return faults.length > 0 && known.length === faults.length ? null : error
}

/** Whether it is unknown if the service has carried a write out: only a repetition with the same key can tell. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  return error instanceof StrongroomError && (error.status >= 500 || error.reason === 'idempotency_key_in_use')
}

/** What the service says about each field, by its path in the request: `name`, `rules.0.selectors.1.value`. */
export function fieldErrors(error: unknown): Map<string, string> {
  return new Map(faultsOf(error).map(({ field, message }) => [field, message]))
}

/** The same for a form of a few fields, by their names wherever they stand in the request. */
export function errorsOfFields<Name extends string>(
  error: unknown,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const errors: Partial<Record<Name, string>> = {}
  for (const { field, message } of faultsOf(error)) {
    const name = names.find((each) => field === each || field.endsWith(`.${each}`))
    if (name !== undefined) errors[name] = message
  }
  return errors
}
