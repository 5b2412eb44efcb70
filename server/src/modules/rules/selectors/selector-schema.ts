import { Type } from 'typebox'
import { published } from '../../../http/schema.ts'
import { type ActionType, actionTypes } from './facts.ts'
import type { JsonSchema } from './selector.ts'
import { describeSelectors } from './selectors.ts'

/** The parts of values in words. */
const meanings: Readonly<Record<string, string>> = {
  selectorType: 'The property of the action that is compared.',
  op: 'Operator of the comparison; `between` includes both bounds.',
  value: 'Value of the comparison. Named objects must exist in the vault.',
  min: 'Lower bound, as a decimal string.',
  max: 'Upper bound, as a decimal string.',
  windowSeconds: 'Length of the window that ends now.',
  per: 'Scope of the transfers that count.',
  timezone: 'A zone of the IANA database, such as `Europe/Berlin`.',
  days: 'The days on which the window begins.',
  from: 'First minute of the window on the wall clock.',
  to: 'Minute at which the window ends; a window that ends before it begins ends on the next day.',
  route: 'Code of the route.',
  variant: 'Code of the variant.',
}

/** Returns the name of the component that describes the selectors of an action. */
const nameOf = (actionType: ActionType): string =>
  `${actionType.replaceAll(/(^|_)([a-z])/g, (_, _mark, letter: string) => letter.toUpperCase())}Selector`

function toComponent(actionType: ActionType) {
  const $id = nameOf(actionType)
  const description = `The selectors of a policy for \`${actionType}\`, each with the form of its value.`
  const described = JSON.stringify(describeSelectors(actionType))
  const first = actionTypes.find((other) => JSON.stringify(describeSelectors(other)) === described)!
  if (first !== actionType) return Type.Unsafe<object>({ $id, description, allOf: [Type.Ref(nameOf(first))] })
  const ofForm = new Map<string, { types: string[]; form: JsonSchema }>()
  for (const { selectorType, valueSchema } of describeSelectors(actionType)) {
    const key = JSON.stringify(valueSchema)
    const group = ofForm.get(key) ?? { types: [], form: valueSchema }
    group.types.push(selectorType)
    ofForm.set(key, group)
  }
  return Type.Unsafe<object>({
    $id,
    description,
    anyOf: [...ofForm.values()].map(({ types, form }) =>
      withMeanings({
        type: 'object',
        properties: { selectorType: { type: 'string', enum: types }, value: form },
        required: ['selectorType', 'value'],
        additionalProperties: false,
      }),
    ),
  })
}

function withMeanings(schema: JsonSchema): JsonSchema {
  const { properties, anyOf, items, ...rest } = schema as {
    properties?: Record<string, JsonSchema>
    anyOf?: JsonSchema[]
    items?: JsonSchema
  } & JsonSchema
  const described = Object.entries(properties ?? {}).map(([name, part]) => {
    const description = meanings[name]
    return [name, { ...(description && { description }), ...withMeanings(part) }]
  })
  return {
    ...rest,
    ...(anyOf && { anyOf: anyOf.map(withMeanings) }),
    ...(items && { items: withMeanings(items) }),
    ...(properties && { properties: Object.fromEntries(described) }),
  }
}

const PolicySelector = Type.Unsafe<object>({
  $id: 'PolicySelector',
  description: 'A selector of a rule. The `actionType` of the policy determines the selectors that it may use.',
  examples: [{ selectorType: 'amount', value: { op: 'gt', value: '1000' } }],
  anyOf: actionTypes.map((actionType) => Type.Ref(nameOf(actionType))),
})

export const selectorComponents = [...actionTypes.map(toComponent), PolicySelector]

/**
 * A selector in a request. `findPolicyFaults` checks the selector, because it can name the faulty field within the value;
 * `openapi.json` describes the selector by the component.
 */
export const asPolicySelector = published('PolicySelector')
