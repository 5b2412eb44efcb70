import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { App } from './route.ts'

const version = '0.1.0'

/** Collects the routes into OpenAPI 3.1 and serves it at /openapi.json, with a reference to read at /docs. */
export async function registerOpenApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Strongroom',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Custody vault service: ledger, policies, approvals and record. Amounts are strings; lists are paged by `cursor`; every write accepts `Idempotency-Key`.',
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A session token or a service token (`srk_…`).' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'session_token',
            description: 'The session of the web console.',
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json) => String(json['$id']) },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'none', deepLinking: true },
  })
}
