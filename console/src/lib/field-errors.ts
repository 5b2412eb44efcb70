import { StrongroomError } from '@strongroom/sdk'

/** What the service says about single fields of a form: the words by the name of the field. Empty for any other fault. */
export function fieldErrors<Name extends string>(
  error: unknown,
  fields: readonly Name[],
): Partial<Record<Name, string>> {
  const details = error instanceof StrongroomError ? error.body?.details : undefined
  const errors: Partial<Record<Name, string>> = {}
  if (!Array.isArray(details)) return errors
  for (const { field, message } of details) {
    const name = fields.find((each) => field === each || field.endsWith(`.${each}`))
    if (name !== undefined) errors[name] = message
  }
  return errors
}
