import { statusNames } from '../lib/errors.ts'
import type { OpenApiDocument, Operation, Parameter, Response } from './openapi-document.ts'

type Reference = { $ref: string }
type Shared<T> = Record<string, T>
/** The document as it is served. Parts that several operations share are components, to which they refer. */
export type SharedDocument = {
  openapi: string
  tags?: { name: string; description: string }[]
  paths: Record<string, Record<string, SharedOperation>>
  components: OpenApiDocument['components'] & { parameters: Shared<Parameter>; responses: Shared<Response> }
}
type SharedOperation = Omit<Operation, 'parameters' | 'responses'> & {
  parameters?: (Parameter | Reference)[]
  responses: Record<string, Response | Reference>
}
type Use = { parameter: Parameter; operationIds: string[] }

/** A shorter successful answer stays in its operations, because a reference would save little. */
const sharedAnswerLengthMin = 2_000

/**
 * Moves parameters that several operations share, their larger answers, and the error responses, to the components of the
 * document. The meaning of the document stays the same. It becomes shorter, and clients get one type for each component.
 *
 * @param meanings the description of the error of each status, for operations without a description of their own
 */
export function shareComponents(document: OpenApiDocument, meanings: Record<string, string>): SharedDocument {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const parameterNames = nameParameters(operations)
  const responseNames = nameResponses(operations, meanings)
  const parameters: Shared<Parameter> = {}
  const responses: Shared<Response> = {}

  for (const operation of operations as SharedOperation[]) {
    if (operation.parameters !== undefined) {
      operation.parameters = operation.parameters.map((parameter) => {
        const name = parameterNames.get(JSON.stringify(parameter))
        if (name === undefined) return parameter
        parameters[name] = parameter as Parameter
        return { $ref: `#/components/parameters/${name}` }
      })
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      const name = responseNames.get(`${status} ${JSON.stringify(response)}`)
      if (name === undefined) continue
      responses[name] = response as Response
      operation.responses[status] = { $ref: `#/components/responses/${name}` }
    }
  }
  const shared = document as unknown as SharedDocument
  shared.components = { ...document.components, parameters: sorted(parameters), responses: sorted(responses) }
  return shared
}

/**
 * Returns the name of the component of each response, by its status and text. Errors have a component, unless an operation
 * describes the error in its own words. So have large answers that several operations share. The most frequent response of an
 * error has the name of its status.
 */
function nameResponses(operations: Operation[], meanings: Record<string, string>): Map<string, string> {
  const uses = new Map<string, { status: string; text: string; operationIds: string[] }>()
  for (const { operationId = '', responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const text = JSON.stringify(response)
      if (Number(status) >= 400 ? response.description !== meanings[status] : text.length < sharedAnswerLengthMin)
        continue
      const use = uses.get(`${status} ${text}`) ?? { status, text, operationIds: [] }
      use.operationIds.push(operationId)
      uses.set(`${status} ${text}`, use)
    }
  }
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const [key, { status, operationIds }] of byFrequency(uses)) {
    const plain = statusNames[Number(status)]?.replaceAll(' ', '') ?? 'Answer'
    if (plain === 'Answer' && operationIds.length < 2) continue
    const isFirstError = plain !== 'Answer' && !taken.has(plain)
    const name = isFirstError ? plain : `${capitalized(operationIds[0]!)}${plain}`
    taken.add(name)
    names.set(key, name)
  }
  return names
}

/**
 * Returns the name of the component of each parameter that several operations share, by its text. Different parameters may have
 * the same name: the most frequent one gets the plain name, and the names of the others begin with the first operation that has
 * them.
 */
function nameParameters(operations: Operation[]): Map<string, string> {
  const uses = new Map<string, Use>()
  for (const { operationId = '', parameters = [] } of operations) {
    for (const parameter of parameters) {
      const use = uses.get(JSON.stringify(parameter)) ?? { parameter, operationIds: [] }
      use.operationIds.push(operationId)
      uses.set(JSON.stringify(parameter), use)
    }
  }
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const [text, { parameter, operationIds }] of byFrequency(uses)) {
    if (operationIds.length < 2) continue
    const plain = capitalized(parameter.name.replaceAll('-', ''))
    const name = taken.has(plain) ? `${capitalized(operationIds[0]!)}${plain}` : plain
    taken.add(name)
    names.set(text, name)
  }
  return names
}

function byFrequency<Use extends { operationIds: string[] }>(uses: Map<string, Use>): [string, Use][] {
  return [...uses].sort(([, a], [, b]) => b.operationIds.length - a.operationIds.length)
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function sorted<T>(components: Shared<T>): Shared<T> {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
}
