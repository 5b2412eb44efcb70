import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, LogController } from 'fastify'
import { toErrorBody, WalletError } from './errors.ts'
import { bodyBytesMax, transferIdLengthMax } from './limits.ts'
import { type AppParts, protocolRoutes } from './routes.ts'
import { sendError } from './send-error.ts'
import { signingRoutes } from './signing/routes.ts'

/** The HTTP side of the protocol. */
export function buildApp(parts: AppParts): FastifyInstance {
  const { pool, authorities, signingPage, log } = parts
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytesMax,
    // A misspelt field must be an error, and so must a number in place of a string, so Ajv neither drops nor converts.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true } },
    forceCloseConnections: 'idle',
    // An id with every character percent-encoded must reach the schema, which says what is wrong with it.
    routerOptions: { maxParamLength: 3 * transferIdLengthMax },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply as never, log),
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply, log))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(toErrorBody(new WalletError(404, 'No such route'))))

  protocolRoutes(app, parts)
  if (signingPage !== undefined) signingRoutes(app, { pool, authorities, page: signingPage })
  return app
}
