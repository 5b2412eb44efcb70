import { operations } from './operations.ts'
import { DepositOrphanedEvent, TopUpEvent } from './protocol.ts'

type Json = { [key: string]: unknown }

type Operation = {
  method: string
  path: string
  summary: string
  schema: { body?: unknown; params?: unknown; querystring?: unknown; response: Record<number, unknown> }
}

/** The published description of the protocol (OpenAPI 3.1), made from the schemas that the routes validate with. */
export function buildOpenApi(): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const [operationId, operation] of Object.entries<Operation>(operations)) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operationId, operation, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Strongroom wallet protocol',
      version: '1.0.0',
      description: 'Requests and events of a service that holds keys. docs/wallet-protocol.md explains their use.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '{walletServiceUrl}', variables: { walletServiceUrl: { default: 'http://127.0.0.1:4000' } } }],
    security: [{ bearer: [] }],
    paths,
    webhooks: {
      deposit: {
        post: describeWebhook(components, TopUpEvent, {
          operationId: 'reportDeposit',
          summary: 'A deposit to a watched address, delivered at least once until the answer is 2xx.',
        }),
      },
      orphanedDeposit: {
        post: describeWebhook(components, DepositOrphanedEvent, {
          operationId: 'reportOrphanedDeposit',
          summary: 'A reported deposit that the chain no longer has, delivered at least once until the answer is 2xx.',
        }),
      },
    },
    components: {
      schemas: components,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'One secret per vault.' } },
    },
  }
}

function describeOperation(operationId: string, { summary, schema, path }: Operation, components: Json): Json {
  const parameters = [...parametersOf('path', schema.params), ...parametersOf('query', schema.querystring)]
  const responses = Object.entries(schema.response).map(([status, body]) => [
    status,
    { description: statusMeaning[Number(status)], content: jsonContent(body, components) },
  ])
  return {
    operationId,
    summary,
    ...(path === operations.getHealth.path ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(schema.body ? { requestBody: { required: true, content: jsonContent(schema.body, components) } } : {}),
    responses: Object.fromEntries(responses),
  }
}

function describeWebhook(components: Json, event: unknown, names: { operationId: string; summary: string }): Json {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
    description,
  })
  return {
    ...names,
    security: [],
    parameters: [
      header('webhook-id', 'Id of the event, which is the same in each of its deliveries.'),
      header('webhook-timestamp', 'Seconds since 1970 at which this delivery was signed.'),
      header('webhook-signature', 'v1,<base64 HMAC-SHA256 of id.timestamp.body> after Standard Webhooks.'),
    ],
    requestBody: { required: true, content: jsonContent(event, components) },
    responses: { '2XX': { description: 'Accepted. After any other answer the event is delivered again.' } },
  }
}

const statusMeaning: Record<number, string> = {
  200: 'Done',
  202: 'Accepted; the state shows the progress',
  400: 'The request does not have the form of the protocol; details names the fields',
  401: 'No valid bearer token',
  403: 'In a protected vault: people have not signed this; details begins with a code',
  404: 'Not found, or not of this client',
  409: 'The request contradicts the present state',
  410: 'The entries of the cursor were lost; details begins with a code',
  500: 'Unexpected error; requestId finds it in the log',
  503: 'The node or the database does not answer; repeat the request after Retry-After',
}

/** A schema with a title becomes a component of that name and is referred to. */
function jsonContent(schema: unknown, components: Json): Json {
  const { title, ...plain } = toPlain(schema)
  if (typeof title !== 'string') return { 'application/json': { schema: plain } }
  components[title] = plain
  return { 'application/json': { schema: { $ref: `#/components/schemas/${title}` } } }
}

function parametersOf(place: 'path' | 'query', schema: unknown): Json[] {
  if (schema === undefined) return []
  const { properties, required } = toPlain(schema) as { properties: Record<string, Json>; required?: string[] }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: required?.includes(name) ?? false,
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }))
}

/** Schemas carry hidden properties of their library; the published document is plain JSON. */
const toPlain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))
