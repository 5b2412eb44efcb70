/** The type of object that the strings of a value name, so that the form can offer a choice. */
export type Named =
  | 'token'
  | 'network'
  | 'address'
  | 'address_group'
  | 'route_variant'
  | 'counterparty'
  | 'counterparty_group'
  | 'member'
  | 'policy_group'
  | 'category'

/** A selector as the API describes it for a form. */
export type SelectorDescription = {
  selectorType: string
  label: string
  names: Named | null
  operators: string[]
  valueSchema: Record<string, unknown>
}

/** The form in which the value of a selector is entered. */
export type ValueForm =
  | { kind: 'comparison' }
  | { kind: 'velocity'; whole: boolean }
  | { kind: 'window' }
  | { kind: 'variants' }
  | { kind: 'choice'; options: string[] }
  | { kind: 'set'; names: Named }
  | { kind: 'texts' }
  | { kind: 'flag' }

type Schema = { anyOf?: Schema[]; enum?: string[]; properties?: Record<string, Schema>; type?: string }

/** Returns the form for a selector. The value of an unknown form is entered as text. */
export function formOf({ selectorType, names, operators, valueSchema }: SelectorDescription): ValueForm {
  const alternatives = (valueSchema as Schema).anyOf ?? [valueSchema as Schema]
  const fields = new Set(alternatives.flatMap(({ properties }) => Object.keys(properties ?? {})))
  if (fields.has('windowSeconds')) return { kind: 'velocity', whole: selectorType === 'velocityCount' }
  if (fields.has('timezone')) return { kind: 'window' }
  if (operators.length > 0) return { kind: 'comparison' }
  if (valueSchema.type === 'boolean') return { kind: 'flag' }
  if (names === 'route_variant') return { kind: 'variants' }
  const options = alternatives.find((alternative) => alternative.enum !== undefined)?.enum
  if (options !== undefined) return { kind: 'choice', options }
  return names === null ? { kind: 'texts' } : { kind: 'set', names }
}

/** Returns the value that a new clause starts with. */
export function emptyValueOf(form: ValueForm, zone: string): unknown {
  if (form.kind === 'comparison') return { op: 'gt', value: '' }
  if (form.kind === 'velocity') return { op: 'gt', value: '', windowSeconds: 86_400, per: 'vault' }
  if (form.kind === 'flag') return true
  if (form.kind !== 'window') return []
  return { timezone: zone, days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' }
}

/** Returns true if a value was entered. The service checks that it is valid. */
export function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'string') return value !== ''
  if (typeof value === 'boolean') return true
  const { op, value: bound, min, max, days } = value as Record<string, unknown>
  if (op === 'between') return Boolean(min) && Boolean(max)
  if (op !== undefined) return Boolean(bound)
  return Array.isArray(days) ? days.length > 0 : true
}

export function listOf<Value>(value: unknown): Value[] {
  return (Array.isArray(value) ? value : [value]) as Value[]
}
