// Turns a JSON schema into what a reader of the reference sees: a type in words, limits in words, and the members,
// without the schema's own grammar. The page draws the result and decides nothing.

/**
 * @typedef {{
 *   name?: string, type: string, required?: true, about?: string, limits?: string[], values?: unknown[], example?: unknown,
 *   fields?: Shape[], ref?: string, choices?: Shape[],
 * }} Shape  `fields` are the members of an object, or of each item of a list; `ref` names a component that has them.
 */

/** @returns {Shape} */
export function shapeOf(schema) {
  const { description, examples } = schema
  const shape = { ...typeOf(schema), ...(description === undefined ? {} : { about: description }) }
  if (examples?.length > 0 && shape.fields === undefined) shape.example = examples[0]
  return shape
}

/** @returns {Shape[]} */
export function membersOf({ properties = {}, required = [] }) {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    ...shapeOf(schema),
    ...(required.includes(name) ? { required: true } : {}),
  }))
}

function typeOf(schema) {
  if (schema.$ref !== undefined) {
    const name = nameIn(schema.$ref)
    return { type: name, ref: name }
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return typeOfChoices(choices)
  if (schema.type === 'array') return typeOfList(schema)
  if (schema.type === 'object') return typeOfObject(schema)
  if ('const' in schema) return { type: schema.type ?? typeof schema.const, values: [schema.const] }
  if (schema.enum !== undefined) return { type: schema.type ?? 'string', values: schema.enum }
  const limits = limitsOf(schema)
  return { type: schema.type ?? 'any value', ...(limits.length === 0 ? {} : { limits }) }
}

/** Describes "string or null" as one type, and several objects as choices that a reader opens one by one. */
function typeOfChoices(choices) {
  const isNull = ({ type }) => type === 'null'
  const others = choices.filter((choice) => !isNull(choice)).map(shapeOf)
  const nullable = choices.some(isNull) ? ' or null' : ''
  if (others.length === 1) return { ...others[0], type: `${others[0].type}${nullable}` }
  const type = `${others.map((shape) => shape.type).join(' or ')}${nullable}`
  const telling = others.filter((shape) => shape.fields ?? shape.ref ?? shape.choices)
  return telling.length === 0 ? { type } : { type, choices: others.map((shape) => ({ ...shape, name: shape.type })) }
}

function typeOfList(schema) {
  const { minItems, maxItems, uniqueItems, items = {} } = schema
  const { about: _about, limits: ofItem = [], type, ...rest } = shapeOf(Array.isArray(items) ? {} : items)
  const limits = [
    ...range('item', minItems, maxItems),
    ...(uniqueItems ? ['no item twice'] : []),
    ...ofItem.map((limit) => `each ${limit}`),
  ]
  if (rest.example !== undefined) rest.example = [rest.example]
  return { ...rest, type: `list of ${type}`, ...(limits.length === 0 ? {} : { limits }) }
}

function typeOfObject(schema) {
  if (schema.properties !== undefined) return { type: 'object', fields: membersOf(schema) }
  const free = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
  if (typeof free !== 'object' || Object.keys(free).length === 0) return { type: 'object' }
  const { about: _about, type, ...rest } = shapeOf(free)
  return { ...rest, type: `object of ${type} by name` }
}

function limitsOf({ format, minLength, maxLength, minimum, maximum, pattern, ...schema }) {
  return [
    ...(format === undefined ? [] : [format]),
    ...range('character', minLength, maxLength),
    ...range('', minimum, maximum),
    ...(pattern === undefined ? [] : [`matches ${pattern}`]),
    ...('default' in schema ? [`default ${JSON.stringify(schema.default)}`] : []),
  ]
}

function range(unit, least, most) {
  const counted = (count) => (unit === '' ? `${count}` : `${count} ${unit}${count === 1 ? '' : 's'}`)
  if (least === undefined && most === undefined) return []
  if (most === undefined) return [`at least ${counted(least)}`]
  if (least === undefined || least === 0) return [`at most ${counted(most)}`]
  return [least === most ? counted(most) : `${least} to ${counted(most)}`]
}

function nameIn(reference) {
  return reference.split('/').at(-1)
}

/** Returns the components that a shape shows, including those of its members and of other components. */
export function componentsIn(shapes, components, found = new Set()) {
  for (const { ref, fields = [], choices = [] } of shapes) {
    if (ref !== undefined && !found.has(ref)) {
      found.add(ref)
      componentsIn(membersOf(components[ref]), components, found)
    }
    componentsIn([...fields, ...choices], components, found)
  }
  return found
}

/** Returns the names of all fields that the shapes show. */
export function namesIn(shapes, components) {
  const names = new Set()
  const add = (found) => {
    for (const { name, fields = [], choices = [] } of found) {
      if (name !== undefined) names.add(name)
      add(fields)
      for (const choice of choices) add(choice.fields ?? [])
    }
  }
  add(shapes)
  for (const component of componentsIn(shapes, components)) add(membersOf(components[component]))
  return names
}
