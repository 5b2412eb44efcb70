// Reads the data that the SDK needs of each operation of openapi.json: its name, its parameters and its answer.
import { nameOf, pascalCase } from './names.js'
import { typeOf } from './types.js'

/**
 * @typedef {{
 *   id: string, verb: string, path: string, summary: string, description?: string,
 *   name: ReturnType<typeof nameOf>,
 *   pathParameters: { name: string, type: string }[],
 *   query: { typeName: string, properties: object[], isRequired: boolean } | null,
 *   body: {
 *     typeName: string, schema: object | null, isRequired: boolean, fileFormats: string | null, uploads: string[]
 *   } | null,
 *   answer: Answer, statuses: [string, string][],
 * }} Operation
 * @typedef {{ kind: 'json' | 'pages' | 'outcome' | 'report' | 'file' | 'text', type: string, pendingType?: string }} Answer
 */

/** @returns {Operation[]} in the order of the document */
export function readOperations(document) {
  const resolve = (found) =>
    found.$ref === undefined
      ? found
      : found.$ref
          .split('/')
          .slice(1)
          .reduce((part, key) => part[key], document)
  const operations = []
  for (const [path, item] of Object.entries(document.paths)) {
    // Directories of companies speak SCIM, for which they have programs of their own.
    if (path.startsWith('/scim/')) continue
    for (const [verb, operation] of Object.entries(item)) {
      if (operation.operationId === undefined) continue
      operations.push(readOperation(path, verb, operation, resolve))
    }
  }
  refuseSameNames(operations)
  return operations
}

function readOperation(path, verb, operation, resolve) {
  const parameters = (operation.parameters ?? []).map(resolve)
  const successes = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => [status, resolve(response).content ?? {}])
  const answer = answerOf(successes, resolve)
  const sent = operation.requestBody && resolve(operation.requestBody)
  return {
    id: operation.operationId,
    verb: verb.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description,
    // An operation that redirects a browser has no answer for a program.
    name: successes.length === 0 ? null : nameOf(path, operation),
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      type: typeOf(parameters.find((parameter) => parameter.in === 'path' && parameter.name === name).schema),
    })),
    query: queryOf(operation, parameters, answer),
    body: sent === undefined ? null : bodyOf(operation, verb, sent.content, resolve),
    answer,
    statuses: successes.map(([status, content]) => [status, contentTypeOf(content)]),
  }
}

function queryOf({ operationId }, parameters, answer) {
  const found = parameters.filter((parameter) => parameter.in === 'query')
  if (found.length === 0) return null
  // The format of a report decides the type of the result, so it is part of the signature of the method instead.
  const isPartOfSignature = ({ name }) => answer.kind === 'report' && name === 'format'
  const fileFormats = formatsOf(found.find(isPartOfSignature)?.schema)
  const properties = found
    .filter((parameter) => !isPartOfSignature(parameter))
    .map(({ name, required, description, schema }) => ({
      name,
      isRequired: required === true,
      description: description ?? schema.description,
      type: typeOf(schema),
    }))
  return {
    typeName: `${pascalCase(operationId)}Query`,
    properties,
    isRequired: properties.some((property) => property.isRequired),
    fileFormats,
  }
}

/** Describes a body: JSON, or a file as a Blob with its media type, or either. */
function bodyOf({ operationId }, verb, content, resolve) {
  const uploads = Object.keys(content).filter((type) => type !== 'application/json')
  if (content['application/json'] === undefined && uploads.length > 0)
    return { typeName: 'Blob', schema: null, isRequired: true, fileFormats: null, uploads }
  const { schema = {} } = content['application/json'] ?? {}
  const { required = [], properties = {} } = resolve(schema)
  const isNamed = schema.$ref !== undefined
  return {
    typeName: isNamed ? typeOf(schema) : `${pascalCase(operationId)}Body`,
    schema: isNamed ? null : schema,
    isRequired: required.length > 0 || verb !== 'post',
    fileFormats: formatsOf(properties.format),
    uploads,
  }
}

/** Returns the formats of files as a type, or null for a parameter that does not choose between JSON and a file. */
function formatsOf(schema) {
  if (!schema?.enum?.includes('json')) return null
  return typeOf({ enum: schema.enum.filter((format) => format !== 'json') })
}

/** @returns {Answer} */
function answerOf(successes, resolve) {
  const typeFor = (statuses) => {
    const types = statuses.map(([, content]) => typeInContent(content))
    return [...new Set(types)].join(' | ')
  }
  // 202 beside another success means that the change waits for somebody. 202 alone is the success.
  const pending = successes.length > 1 ? successes.filter(([status]) => status === '202') : []
  const done = successes.filter((success) => !pending.includes(success))
  if (done.length === 0) return { kind: 'json', type: 'void' }
  if (pending.length > 0) {
    const schema = resolve(pending[0][1]['application/json'].schema)
    const keys = Object.keys(schema.properties)
    const pendingType = keys.join() === 'request' ? typeOf(schema.properties.request) : typeFor(pending)
    return { kind: 'outcome', type: typeFor(done), pendingType }
  }
  const media = Object.keys(done[0][1])
  const hasJson = media.includes('application/json')
  const isFile = media.some((type) => isBinary(done[0][1][type]))
  if (hasJson && isFile) return { kind: 'report', type: typeFor(done) }
  if (isFile) return { kind: 'file', type: 'FileAnswer' }
  if (!hasJson && media.length > 0) return { kind: 'text', type: 'string' }
  const { properties = {} } = hasJson ? resolve(done[0][1]['application/json'].schema) : {}
  if (Object.keys(properties).join() === 'items,nextCursor')
    return { kind: 'pages', type: typeOf(properties.items.items) }
  return { kind: 'json', type: typeFor(done) }
}

function typeInContent(content) {
  const json = content['application/json']
  return json === undefined ? 'void' : typeOf(json.schema, { indent: '  ' })
}

/** Returns the type of an answer for openapi-fetch, in the names that `renderPaths` declares for JSON and for no content. */
function contentTypeOf(content) {
  const parts = Object.entries(content).map(([media, contentOfMedia]) => [
    media,
    isBinary(contentOfMedia) ? 'Blob' : typeOf(contentOfMedia.schema, { indent: '      ' }),
  ])
  if (parts.length === 0) return 'Empty'
  if (parts.length === 1 && parts[0][0] === 'application/json') return `Json<${parts[0][1]}>`
  return `{ content: { ${parts.map(([media, type]) => `'${media}': ${type}`).join('; ')} } }`
}

function isBinary({ schema }) {
  return schema.format === 'binary'
}

/** Throws for a second operation of the same name, which would silently replace the first. */
function refuseSameNames(operations) {
  const seen = new Map()
  for (const { id, name } of operations) {
    if (name === null) continue
    const full = `${name.isOfVault ? 'vault' : 'strongroom'}.${name.resource}.${name.method}`
    if (seen.has(full)) throw new Error(`${id} and ${seen.get(full)} are both ${full}: name one of them in names.js`)
    seen.set(full, id)
  }
}
