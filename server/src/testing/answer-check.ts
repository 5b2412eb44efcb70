import { Ajv, type ValidateFunction } from 'ajv'
import { expect } from 'vitest'
import type { App } from '../http/endpoints.ts'
import type { OpenApiDocument } from '../http/openapi-document.ts'
import { scimPrefix, scimType } from '../http/scim-form.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import type { Answer } from './answer.ts'
import { describedApiOf, operationFinder } from './described-api.ts'

type AnswerCheck = (method: string, path: string, answer: Answer<unknown>) => void

let check: AnswerCheck | null = null

/**
 * Returns a check of every answer against the OpenAPI document: its status must be documented, and its body must fit without
 * additional fields. The document depends on no setting, so that the test files of one process share the compiled checks.
 */
export function answerCheckOf(app: App): AnswerCheck {
  check ??= createAnswerCheck(describedApiOf(app))
  return check
}

/** Creates a check of answers against a document. Answers that the document does not describe pass. */
export function createAnswerCheck(document: OpenApiDocument): AnswerCheck {
  // References are not inlined, so that a component is compiled once and not for each answer that uses it.
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true }, allErrors: true, inlineRefs: false })
  const compiled = new Map<string, ValidateFunction>()
  for (const [name, schema] of Object.entries(document.components.schemas)) ajv.addSchema(toNamedRefs(schema), name)
  const find = operationFinder(document)

  return (method, path, answer) => {
    const bare = path.split('?')[0]!
    const isScim = bare.startsWith(`${scimPrefix}/`)
    if (answer.status >= 400 && !isScim) checkReason(`${method} ${bare}`, answer)
    const found = find(method, bare)
    if (found === undefined) return
    const label = `${method} ${found.url} answers ${answer.status}`
    const documented = found.operation.responses[String(answer.status)]
    if (documented === undefined)
      expect.fail(`${label}, which openapi.json does not document: ${JSON.stringify(answer.body)}`)
    const { schema, examples } = documented.content?.[isScim ? scimType : 'application/json'] ?? {}
    if (schema === undefined) return
    // Each error has an example for each of its reasons, so a reason without an example is not declared by the route.
    const { reason, message } = answer.body as { reason?: string; message?: string }
    if (answer.status >= 400 && !isScim && examples?.[reason ?? ''] === undefined) {
      expect.fail(`${label} with the reason ${reason}, which its route does not declare: ${message}`)
    }
    const key = `${method} ${found.url} ${answer.status}`
    const validate = compiled.get(key) ?? ajv.compile(toNamedRefs(schema))
    compiled.set(key, validate)
    if (!validate(answer.body)) {
      expect.fail(
        `${label} with a body that does not fit: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(answer.body, null, 2)}`,
      )
    }
  }
}

/** Checks the reason of every error, also where the document describes no answer, such as for unknown paths. */
function checkReason(request: string, { status, body, headers }: Answer<unknown>): void {
  const { reason, requestId } = body as { reason?: Reason; requestId?: string }
  expect(reasons[reason as Reason], `${request} answers ${status} with the reason ${reason}`).toBe(status)
  expect(requestId, `${request} answers ${status} without the id of the request`).toMatch(/^[0-9a-f-]{36}$/)
  if (headers['idempotency-replayed'] === undefined) expect(requestId).toBe(headers['x-request-id'])
}

export function toNamedRefs(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"')) as object
}
