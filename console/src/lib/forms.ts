import { StrongroomError } from '@strongroom/sdk'

/** What the service says about each field, by its path in the request: `name`, `rules.0.selectors.1.value`. */
export function fieldErrors(error: unknown): Map<string, string> {
  const details = error instanceof StrongroomError ? error.body?.details : undefined
  if (!Array.isArray(details)) return new Map()
  return new Map((details as { field: string; message: string }[]).map(({ field, message }) => [field, message]))
}
