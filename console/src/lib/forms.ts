import { ConnectionError, StrongroomError } from '@strongroom/sdk'
import type { FieldValues, Path, UseFormSetError } from 'react-hook-form'
import { said } from './language.ts'

/**
 * Returns a key under which the service carries out a write once, however often it is sent. It is made when the form
 * opens.
 */
export function newIdempotencyKey(): string {
  // Not randomUUID, which browsers have on secure origins only.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns the fields of a request that the service refused, with the reasons: `amount`, `addresses.0.address`. */
export function faultsOf(error: unknown): { field: string; message: string }[] {
  const details = error instanceof StrongroomError ? error.body?.details : undefined
  if (!Array.isArray(details)) return []
  return details.map(({ field, message }: { field: string; message: string }) => ({ field, message: said(message) }))
}

/**
 * Shows the faults that the service found at the fields of the form.
 * @returns the error if part of it has no field here, and therefore must be shown above the form
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

/**
 * Returns true if it is unknown whether the service has carried out a write. Only a repetition with the same key can
 * tell.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  return error instanceof StrongroomError && (error.status >= 500 || error.reason === 'idempotency_key_in_use')
}

/** Returns the service's messages by the path of the field in the request: `name`, `rules.0.selectors.1.value`. */
export function fieldErrors(error: unknown): Map<string, string> {
  return new Map(faultsOf(error).map(({ field, message }) => [field, message]))
}

/** Returns the service's messages for a form of a few fields, by their names anywhere in the request. */
export function errorsOfFields<Name extends string>(
  error: unknown,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const errors: Partial<Record<Name, string>> = {}
  for (const { field, message } of faultsOf(error)) {
    const name = names.find((candidate) => field === candidate || field.endsWith(`.${candidate}`))
    if (name !== undefined) errors[name] = message
  }
  return errors
}
