import { statusNames } from '../lib/errors.ts'
import type { OpenApiDocument, Operation, Parameter, Response } from './openapi.ts'

type Reference = { $ref: string }
type Shared<T> = Record<string, T>
/** The document as it is served: what several operations share is one component, to which they refer. */
export type SharedDocument = {
  openapi: string
  paths: Record<string, Record<string, SharedOperation>>
  components: OpenApiDocument['components'] & { parameters: Shared<Parameter>; responses: Shared<Response> }
}
type SharedOperation = Omit<Operation, 'parameters' | 'responses'> & {
  parameters?: (Parameter | Reference)[]
  responses: Record<string, Response | Reference>
}
type Use = { parameter: Parameter; operationIds: string[] }

/**
 * Moves parameters that several operations share, and the error responses, to the components of the document. The
 * meaning of the document stays the same; it becomes shorter, and clients get one type for each.
 *
 * @param meanings the description that the error of each status has unless an operation gives its own
 */
export function shareComponents(document: OpenApiDocument, meanings: Record<string, string>): SharedDocument {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const parameterNames = nameParameters(operations)
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
      const name = statusNames[Number(status)]?.replaceAll(' ', '')
      // An error that an operation describes in its own words stays where it is.
      if (Number(status) < 400 || name === undefined || '$ref' in response) continue
      if (response.description !== meanings[status]) continue
      responses[name] = response
      operation.responses[status] = { $ref: `#/components/responses/${name}` }
    }
  }
  const shared = document as unknown as SharedDocument
  shared.components = { ...document.components, parameters: sorted(parameters), responses: sorted(responses) }
  return shared
}

/**
 * The component of each parameter that several operations share, by its text. Different parameters may have one name: the
 * most frequent one gets the plain name, and the names of the others begin with the first operation that has them.
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
  const byUse = [...uses].sort(([, a], [, b]) => b.operationIds.length - a.operationIds.length)
  for (const [text, { parameter, operationIds }] of byUse) {
    if (operationIds.length < 2) continue
    const plain = capitalized(parameter.name.replaceAll('-', ''))
    const name = taken.has(plain) ? `${capitalized(operationIds[0]!)}${plain}` : plain
    taken.add(name)
    names.set(text, name)
  }
  return names
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function sorted<T>(components: Shared<T>): Shared<T> {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
}
