import type { App } from '../http/endpoints.ts'
import type { SharedDocument } from '../http/openapi-components.ts'
import type { OpenApiDocument, Operation } from '../http/openapi-document.ts'

/** Returns the OpenAPI document of a service, with every parameter and answer in its operation instead of a reference. */
export function describedApiOf(app: App): OpenApiDocument {
  return withoutReferences(app.swagger() as unknown as SharedDocument)
}

/** Resolves references, except those to schemas: schemas refer to each other, and some to themselves. */
export function withoutReferences(document: SharedDocument): OpenApiDocument {
  const { parameters, responses, ...components } = document.components
  const resolve = <T extends object>(kind: string, shared: Record<string, T>, found: T | { $ref: string }): T => {
    if (!('$ref' in found)) return found
    const prefix = `#/components/${kind}/`
    const component = found.$ref.startsWith(prefix) ? shared[found.$ref.slice(prefix.length)] : undefined
    if (component === undefined) throw new Error(`The document refers to ${found.$ref}, which does not exist`)
    return component
  }
  const paths: OpenApiDocument['paths'] = {}
  for (const [path, operations] of Object.entries(document.paths)) {
    paths[path] = {}
    for (const [method, operation] of Object.entries(operations)) {
      const { parameters: found, ...rest } = operation
      paths[path][method] = {
        ...rest,
        ...(found === undefined
          ? {}
          : { parameters: found.map((parameter) => resolve('parameters', parameters, parameter)) }),
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, response]) => [
            status,
            resolve('responses', responses, response),
          ]),
        ),
      }
    }
  }
  return { ...document, paths, components }
}

/** Returns a function that finds the operation of a request, with its path as in the document. */
export function operationFinder(document: OpenApiDocument) {
  const paths = Object.entries(document.paths).map(([url, operations]) => ({
    url,
    literals: url.split('/').filter((part) => !part.startsWith('{')).length,
    pattern: new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
    operations,
  }))
  paths.sort((a, b) => b.literals - a.literals)
  return (method: string, path: string): { url: string; operation: Operation } | undefined => {
    const verb = method.toLowerCase()
    const found = paths.find(({ pattern, operations }) => pattern.test(path) && operations[verb] !== undefined)
    return found === undefined ? undefined : { url: found.url, operation: found.operations[verb]! }
  }
}
