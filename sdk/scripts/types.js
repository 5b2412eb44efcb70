// Renders TypeScript types of JSON schemas as compactly as possible: the compiler of a small program spends most of its
// time reading them.

/** Schemas whose names mean something else in a program. */
const renamed = new Map([['Error', 'ErrorBody']])

/** @param {string} reference such as `#/components/schemas/Transfer` */
export function typeNameOf(reference) {
  const name = reference.slice(reference.lastIndexOf('/') + 1)
  return renamed.get(name) ?? name
}

/**
 * @param {object} schema
 * @param {{ indent?: string }} [options]
 * @returns {string}
 */
export function typeOf(schema, { indent = '' } = {}) {
  const inner = (part) => typeOf(part, { indent })
  if (schema.$ref !== undefined) return typeNameOf(schema.$ref)
  if (schema.const !== undefined) return literalOf(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literalOf).join(' | ')
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return [...new Set(union.map(inner))].join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((part) => inParentheses(part, inner(part))).join(' & ')
  if (Array.isArray(schema.type)) return [...new Set(schema.type.map((type) => inner({ ...schema, type })))].join(' | ')
  if (schema.type === 'array') return `${inParentheses(schema.items ?? {}, inner(schema.items ?? {}))}[]`
  if (schema.type === 'object') return objectTypeOf(schema, indent)
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  return { string: 'string', boolean: 'boolean', null: 'null' }[schema.type] ?? 'unknown'
}

function objectTypeOf(schema, indent) {
  const { properties = {}, required = [], additionalProperties } = schema
  const names = Object.keys(properties)
  if (names.length === 0) {
    if (additionalProperties === false) return 'Record<string, never>'
    const isTyped = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
    return `Record<string, ${isTyped ? typeOf(additionalProperties, { indent }) : 'unknown'}>`
  }
  const deeper = `${indent}  `
  const lines = names.map((name) => {
    const type = typeOf(properties[name], { indent: deeper })
    return propertyOf(name, { ...properties[name], type, isRequired: required.includes(name), indent: deeper })
  })
  return `{\n${lines.join('')}${indent}}`
}

/** Renders a property of an object type, with its description above it. */
export function propertyOf(name, { type, isRequired, description, anyOf, indent }) {
  const text = description ?? anyOf?.find((part) => part.description !== undefined)?.description
  return `${commentOf(text, indent)}${indent}${keyOf(name)}${isRequired ? '' : '?'}: ${type}\n`
}

/** Renders a doc comment of at most 120 columns, or '' for a missing text. */
export function commentOf(text, indent = '') {
  if (text === undefined || text === '') return ''
  // The end of a comment within the text would end the comment.
  const safe = text.replaceAll('*/', '*\\/')
  if (!safe.includes('\n') && indent.length + safe.length + 7 <= 120) return `${indent}/** ${safe} */\n`
  const lines = safe.split('\n').flatMap((line) => (line.startsWith('|') ? [line] : wrap(line, 116 - indent.length)))
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function wrap(line, columns) {
  const lines = ['']
  for (const word of line.split(' ')) {
    const last = lines.at(-1)
    if (last !== '' && last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

export function keyOf(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}

function literalOf(value) {
  return typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value)
}

function inParentheses(schema, type) {
  const isUnion = schema.anyOf ?? schema.oneOf ?? schema.enum ?? (Array.isArray(schema.type) || undefined)
  return isUnion === undefined ? type : `(${type})`
}
