import type { AccessLevel } from '../access/caller.ts'
import type { Scope } from '../access/scopes.ts'
import type { ErrorBody } from '../lib/errors.ts'
import type { Reason } from '../lib/reasons.ts'

export type Media = Record<
  string,
  { schema?: JsonSchema; example?: unknown; examples?: Record<string, { $ref: string }> }
>

export type Parameter = { name: string; in: string; description?: string; schema?: JsonSchema; example?: unknown }

export type Response = { description?: string; content?: Media }
export type Operation = {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { content?: Media; required?: boolean }
  responses: Record<string, Response>
  /** The access level of the callers. It is a part of the document, because `security` cannot express it. */
  'x-access'?: AccessLevel
  /** The scope that a service token needs. Operations that services cannot call have none. */
  'x-scope'?: Scope
  /** The reasons for which the operation may refuse. They are read and removed while the document is made. */
  'x-reasons'?: Reason[]
  /** True when a passkey confirms the request. It becomes a header. */
  'x-confirmed'?: true
  /** Examples of the bodies besides JSON, by media type. They move to the body. */
  'x-uploads'?: Record<string, string>
}

/** The document before `shareComponents`, with every parameter and answer in its operation. */
export type OpenApiDocument = {
  openapi: string
  tags?: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema>; examples?: Record<string, ErrorExample> }
}

/** The keywords of JSON Schema 2020-12 that our schemas use. */
export type JsonSchema = {
  $ref?: string
  description?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  default?: unknown
  examples?: unknown[]
  format?: string
  properties?: Record<string, JsonSchema>
  patternProperties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema | JsonSchema[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  minItems?: number
  maxItems?: number
}

export type ErrorExample = { summary: string; value: ErrorBody }
