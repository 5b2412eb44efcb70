// Renders the text of the generated files.
import { pascalCase } from './names.js'
import { commentOf, propertyOf, typeNameOf, typeOf } from './types.js'

const mark = '// Generated from openapi.json by scripts/generate.js: do not edit.\n'

/** Renders the types: schemas, parameters and bodies, and an interface for each resource. */
export function renderTypes(document, operations) {
  // Directories of companies speak SCIM, for which they have programs of their own.
  const schemas = Object.entries(document.components.schemas).filter(([name]) => !name.startsWith('Scim'))
  const error = document.components.schemas.Error
  return withoutRepetition(
    [
      mark,
      "import type { CallOptions, Outcome } from '../calls.ts'\n",
      "import type { FileAnswer } from '../files.ts'\n",
      "import type { Pages } from '../pages.ts'\n\n",
      ...schemas.map(([name, schema]) => declarationOf(typeNameOf(name), schema)),
      '/** Why a request was refused, for programs. */\n',
      `export type ErrorReason = ${error.properties.reason === undefined ? 'string' : "NonNullable<ErrorBody['reason']>"}\n\n`,
      ...operations.flatMap(inputsOf),
      ...resourcesOf(operations).map(interfaceOf),
    ].join(''),
  )
}

/** Members of an interface with their comments. */
const member = /^(?: {2}\/\*\*[\s\S]*?\*\/\n)? {2}[\w'$-]+\??: [\s\S]*?\n(?= {2}\S|$(?![\s\S]))/gm

/** The shortest text of members that is worth an extension, and one that leaves members of the other interface out. */
const repeatedMin = 200
const repeatedOfPartMin = 1_500

/**
 * Lets an interface extend the earlier interface with most of its members, because the package contains every line. Without such
 * an interface, it extends one that has most of its members and others, which it leaves out.
 */
export function withoutRepetition(text) {
  const earlier = []
  return text.replace(/^export interface (\w+) \{\n([\s\S]*?)^\}\n/gm, (whole, name, body) => {
    const members = body.match(member) ?? []
    if (members.join('') !== body) return whole
    const queries = name.endsWith('Query') ? earlier.filter((other) => other.name.endsWith('Query')) : []
    const base = longest(earlier.filter(isContainedIn(members))) ?? longest(queries.flatMap(partIn(members)))
    earlier.push({ name, members, length: body.length })
    if (base === null) return whole
    const rest = members.filter((text) => !base.members.includes(text)).join('')
    return `export interface ${name} extends ${base.name} {${rest === '' ? '' : `\n${rest}`}}\n`
  })
}

const longest = (interfaces) =>
  interfaces.reduce((best, other) => (best !== null && best.length >= other.length ? best : other), null)

const isContainedIn = (members) => (other) =>
  other.length >= repeatedMin && other.members.every((text) => members.includes(text))

/** Returns what the parameters of another operation have in common with the members, under a name that leaves out the rest. */
const partIn = (members) => (other) => {
  const shared = other.members.filter((text) => members.includes(text))
  const omitted = other.members.filter((text) => !members.includes(text)).map(nameOfMember)
  const length = shared.join('').length
  if (length < repeatedOfPartMin || length < other.length / 2) return []
  return [{ name: `Omit<${other.name}, ${omitted.join(' | ')}>`, members: shared, length }]
}

const nameOfMember = (text) => `'${/^ {2}'?([\w$-]+)'?\??: /m.exec(text)[1]}'`

/** Renders the table from which the methods are made at run time. */
export function renderTable(operations) {
  const scopeOf = (isOfVault) =>
    resourcesOf(operations)
      .filter((resource) => resource.isOfVault === isOfVault)
      .map(
        ({ name, operations: operationsOfResource }) =>
          `  ${name === '' ? "''" : name}: {\n${operationsOfResource.map(rowOf).join('')}  },\n`,
      )
      .join('')
  return [
    mark,
    "import type { Table } from '../resources.ts'\n\n",
    `export const ofVault: Table = {\n${scopeOf(true)}}\n\n`,
    `export const ofInstallation: Table = {\n${scopeOf(false)}}\n`,
  ].join('')
}

/** Renders the paths as openapi-fetch reads them, for the raw client. */
export function renderPaths(document, operations) {
  const known = new Set([
    ...Object.keys(document.components.schemas).map(typeNameOf),
    ...operations
      .flatMap(({ query, body }) => [query, body].filter(Boolean).map(({ typeName }) => typeName))
      .filter((name) => name !== 'Blob'),
  ])
  const verbsOf = new Map()
  for (const operation of operations) {
    const verbs = verbsOf.get(operation.path) ?? []
    verbsOf.set(operation.path, [...verbs, `    ${operation.verb.toLowerCase()}: ${rawTypeOf(operation)}\n`])
  }
  const paths = [...verbsOf].map(([path, verbs]) => `  '${path}': {\n${verbs.join('')}  }\n`).join('')
  const named = [...paths.matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name).filter((name) => known.has(name))
  const imported = [...new Set(['ErrorBody', ...named])].sort()
  return [
    mark,
    `import type {\n${imported.map((name) => `  ${name},\n`).join('')}} from './api.ts'\n\n`,
    "type Json<Value> = { content: { 'application/json': Value } }\n",
    'type Empty = { content?: never }\n',
    "type Failures = { '4XX': Json<ErrorBody>; '5XX': Json<ErrorBody> }\n",
    'type Read<Parameters, Answers> = { parameters: Parameters; responses: Answers & Failures }\n',
    'type Write<Parameters, Body, Answers> = Read<Parameters, Answers> & Body\n\n',
    `export interface paths {\n${paths}}\n`,
  ].join('')
}

function declarationOf(name, schema) {
  const type = typeOf(schema)
  const isInterface = schema.type === 'object' && type.startsWith('{')
  return `${commentOf(schema.description)}export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type}`}\n\n`
}

/** Renders the types of the parameters and the body of an operation, if they have no name in the document. */
function inputsOf({ query, body, description }) {
  const types = []
  if (query !== null) {
    const lines = query.properties.map((property) => propertyOf(property.name, { ...property, indent: '  ' }))
    types.push(`export interface ${query.typeName} {\n${lines.join('')}}\n\n`)
  }
  if (body !== null && body.schema !== null) {
    // The service repeats some descriptions of operations at their bodies.
    const schema = body.schema.description === description ? { ...body.schema, description: undefined } : body.schema
    types.push(declarationOf(body.typeName, schema))
  }
  return types
}

/** @returns {{ isOfVault: boolean, name: string, operations: object[] }[]} */
function resourcesOf(operations) {
  const resources = new Map()
  for (const operation of operations) {
    if (operation.name === null) continue
    const { isOfVault, resource } = operation.name
    const key = `${isOfVault} ${resource}`
    const known = resources.get(key) ?? { isOfVault, name: resource, operations: [] }
    known.operations.push(operation)
    resources.set(key, known)
  }
  const scopes = [true, false].map((isOfVault) =>
    [...resources.values()].filter((resource) => resource.isOfVault === isOfVault),
  )
  return scopes.flat()
}

function interfaceOf({ isOfVault, name, operations }, _index, resources) {
  const methods = operations.map(methodOf).join('')
  const text = name === '' ? '' : `export interface ${interfaceNameOf(isOfVault, name)} {\n${methods}}\n\n`
  const siblings = resources.filter((resource) => resource.isOfVault === isOfVault)
  if (siblings.at(-1).name !== name) return text
  const ofScope = siblings.find((resource) => resource.name === '')?.operations.map(methodOf) ?? []
  const members = siblings
    .filter((resource) => resource.name !== '')
    .map((resource) => `  readonly ${resource.name}: ${interfaceNameOf(isOfVault, resource.name)}\n`)
  const scope = isOfVault ? 'VaultResources' : 'InstallationResources'
  return `${text}export interface ${scope} {\n${ofScope.join('')}${members.join('')}}\n\n`
}

function interfaceNameOf(isOfVault, name) {
  return `${isOfVault ? 'Vault' : ''}${pascalCase(name)}Resource`
}

function methodOf(operation) {
  const { name, summary, description, answer, verb, path } = operation
  const comment = commentOf(`${summary}: ${verb} ${path}.${description === undefined ? '' : `\n${description}`}`, '  ')
  const signature = (input, type) => `  ${name.method}(${parametersOf(operation, input)}): ${type}\n`
  if (answer.kind === 'report') {
    const input = operation.query?.fileFormats ? operation.query : operation.body
    const file = `${input.typeName} & { format: ${input.fileFormats} }`
    const json = `${input.typeName} & { format?: 'json' }`
    return (
      comment +
      signature({ type: file, isRequired: true }, 'Promise<FileAnswer>') +
      signature({ type: json, isRequired: input.isRequired }, `Promise<${answer.type}>`)
    )
  }
  return comment + signature(null, returnTypeOf(answer))
}

function returnTypeOf({ kind, type, pendingType }) {
  if (kind === 'pages') return `Pages<${type}>`
  if (kind === 'outcome') return `Promise<Outcome<${type}, ${pendingType}>>`
  return `Promise<${type}>`
}

/** Renders the parameters: identifiers, then the body, then the query, then the options of the call. */
function parametersOf({ name, pathParameters, body, query }, reportInput) {
  const parameters = pathParameters
    .filter((parameter) => !(name.isOfVault && parameter.name === 'code'))
    .map((parameter) => `${parameter.name}: ${parameter.type}`)
  const optional = (isRequired) => (isRequired ? '' : '?')
  const typeFor = (input) => (reportInput !== null && input.fileFormats !== null ? reportInput.type : input.typeName)
  const isRequired = (input) => (reportInput !== null && input.fileFormats !== null ? reportInput : input).isRequired
  if (body !== null) {
    const orFile = body.uploads.length > 0 && body.typeName !== 'Blob' ? ' | Blob' : ''
    parameters.push(`body${optional(isRequired(body))}: ${typeFor(body)}${orFile}`)
  }
  if (query !== null) parameters.push(`query${optional(isRequired(query))}: ${typeFor(query)}`)
  return [...parameters, 'options?: CallOptions'].join(', ')
}

function rowOf({ name, verb, path, body, query, answer }) {
  const takes = [body && 'body', query && 'query'].filter(Boolean).join(' ')
  const gives = answer.kind === 'json' ? '' : answer.kind
  const row = [verb, path, takes, gives]
  while (row.at(-1) === '') row.pop()
  return `    ${name.method}: [${row.map((part) => `'${part}'`).join(', ')}],\n`
}

function rawTypeOf({ verb, pathParameters, query, body, statuses }) {
  const parts = []
  if (pathParameters.length > 0) {
    parts.push(`path: { ${pathParameters.map((parameter) => `${parameter.name}: ${parameter.type}`).join('; ')} }`)
  }
  if (query !== null) {
    const format = query.fileFormats === null ? '' : ` & { format?: 'json' | ${query.fileFormats} }`
    parts.push(`query${query.isRequired ? '' : '?'}: ${query.typeName}${format}`)
  }
  if (verb !== 'GET') parts.push("header?: { 'Idempotency-Key'?: string }")
  const parameters = `{ ${parts.join('; ')} }`
  const answers = `{ ${statuses.map(([status, content]) => `${status}: ${content}`).join('; ')} }`
  if (body === null) return `Read<${parameters}, ${answers}>`
  const json = body.typeName === 'Blob' ? [] : [`'application/json': ${body.typeName}`]
  const content = [...json, ...body.uploads.map((type) => `'${type}': Blob`)].join('; ')
  return `Write<${parameters}, { requestBody: { content: { ${content} } } }, ${answers}>`
}
