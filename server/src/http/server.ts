import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import type { Deps } from '../deps.ts'
import { AppError, badRequest, tooManyRequests } from '../lib/errors.ts'
import { headSecondsMax, keepAliveSeconds, publicBodyBytesMax, serviceRateFactor } from '../lib/limits.ts'
import { senderOf } from '../lib/sender.ts'
import { parseStrictJson } from '../lib/strict-json.ts'
import { registerCompression } from './compression.ts'
import { confirmationHeader, hashOfBody } from './confirmation.ts'
import { limitConnections } from './connection-share.ts'
import { contentPolicy } from './content-policy.ts'
import type { App } from './endpoints.ts'
import { answerClientError, callerForLog, createOutageLog, handleError, handleFrameworkError } from './error-handler.ts'
import { assertAccessDeclared, guard } from './guard.ts'
import { endLastConnections } from './last-connections.ts'
import { createBodyReader } from './read-body.ts'
import { isScim, scimType } from './scim-form.ts'
import { registerUploads, textOf, wrongTypeFor } from './uploads.ts'
import { createValidatorCompiler } from './validation.ts'

/** Creates the HTTP shell: parsers, guards, errors and headers, without any route of the service itself. */
export async function createServer(deps: Deps, components: object[]): Promise<App> {
  const app = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    bodyLimit: publicBodyBytesMax,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies(deps.config.trustProxy),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    keepAliveTimeout: keepAliveSeconds * 1_000,
    ...timeoutsOf(deps.config.requestTimeoutSeconds * 1_000),
    // While it stops, a node still answers requests on open connections, and closes each connection with its answer.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: (error, request, reply) => handleFrameworkError(error, request, reply as never),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, deps.log),
  }) as unknown as FastifyInstance

  // Behind a proxy all connections come from its address, so the proxy must limit their shares.
  limitConnections({ server: app.server, hasShares: deps.config.trustProxy === false, log: deps.log })
  endLastConnections(app)
  for (const component of components) app.addSchema(component)
  app.setValidatorCompiler(createValidatorCompiler(components as Record<string, unknown>[]))
  // Presenters name every field. The tests check each answer against its schema.
  app.setSerializerCompiler(() => JSON.stringify)
  const noteOutage = createOutageLog(deps.log)
  app.setErrorHandler((error, request, reply) => handleError(error, request, reply, noteOutage))
  readBodies(app)
  refuseUnknownRoutes(app)

  app.decorateRequest('caller', null)
  app.decorateRequest('member', null)
  app.decorateRequest('directory', null)
  app.decorateRequest('bodyHash', null)
  await registerCompression(app)
  await app.register(cookie)
  await app.register(helmet, {
    contentSecurityPolicy: false,
    frameguard: { action: 'deny' },
    strictTransportSecurity: deps.config.publicUrl?.startsWith('https:') === true,
  })
  await guardRequests(app, deps)
  app.addHook('onSend', async (request, _reply, payload) => {
    // The answer to HEAD has no body, so that a whole file would be made for nothing.
    if (request.method !== 'HEAD' || !(payload instanceof Readable)) return payload
    payload.destroy()
    return Readable.from([])
  })
  app.addHook('onResponse', async (request, { statusCode, elapsedTime }) => {
    const { log, method, routeOptions } = request
    const level = probes.includes(routeOptions.url ?? '') ? 'debug' : 'info'
    const facts = { method, route: routeOptions.url, status: statusCode, ms: Math.round(elapsedTime) }
    log[level]({ ...facts, ...callerForLog(request) }, 'answered')
  })
  return app as unknown as App
}

/** Routes that machines ask every few seconds. */
const probes = ['/healthz', '/readyz', '/metrics']

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const readBody = createBodyReader()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) =>
    parseBody(request, await readBody(request, payload)),
  )
  app.addContentTypeParser(scimType, async (request: FastifyRequest, payload: IncomingMessage) => {
    if (!isScim(request)) throw wrongTypeFor(request)
    return parseBody(request, await readBody(request, payload))
  })
  registerUploads(app, readBody)
  app.addHook('preValidation', async (request) => {
    // A missing body is read as an empty one. The fault then names the required fields, and a body without required fields may
    // be omitted.
    if (request.body === undefined) request.body = {}
    if (confirmationHeader.toLowerCase() in request.headers) request.bodyHash = hashOfBody(request.body)
    const { schema, config } = request.routeOptions
    const takesBody = schema?.body !== undefined
    if (!takesBody && config.uploads !== undefined && !Buffer.isBuffer(request.body)) throw wrongTypeFor(request)
    if (Buffer.isBuffer(request.body)) return
    if (!takesBody && !isEmptyObject(request.body))
      throw badRequest('body', 'must be empty: this endpoint takes no body')
  })
}

/** Refuses routes without an access level, and requests without a route. */
function refuseUnknownRoutes(app: FastifyInstance): void {
  const methods = new MethodTable()
  app.addHook('onRoute', (options) => {
    assertAccessDeclared(options.url, options.config?.access, options.config?.scope)
    methods.add(options.url, options.method)
  })
  app.setNotFoundHandler((request) => {
    const allowed = methods.allowedFor(request.url)
    // A route of files matches every name, and then finds that there is no such file.
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new AppError('no_such_route', 'There is no such route')
    throw new AppError('method_not_allowed', `${request.method} is not possible here`, {
      headers: { allow: allowed.join(', ') },
    })
  })
}

async function guardRequests(app: FastifyInstance, deps: Deps): Promise<void> {
  const limitRate = await createRateLimiter(app, deps.config.rateLimitPerMinute)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('cache-control', 'no-store')
    reply.header('content-security-policy', strictPolicy)
    const refusal: unknown = await guard(deps, request).then(
      () => null,
      (error: unknown) => error,
    )
    // The limit counts per caller, so that callers behind one address do not share it. Anonymous requests count per address.
    await limitRate(request)
    if (refusal !== null) throw refusal
  })
}

const strictPolicy = contentPolicy({ showsLogos: false })

function isEmptyObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0
}

/**
 * Returns the timeouts of requests. A request that is not complete in time is answered with 408 and its connection is closed,
 * so that a stalled sender does not hold memory for longer. Node.js checks for such requests at an interval only.
 */
function timeoutsOf(requestTimeout: number) {
  const headersTimeout = Math.min(requestTimeout, headSecondsMax * 1_000)
  return { requestTimeout, http: { requestTimeout, headersTimeout, connectionsCheckingInterval: headersTimeout / 2 } }
}

/**
 * Returns the trusted proxies as the framework takes them: a list of addresses as it is, but a number of hops as a function of
 * the distance.
 */
function trustedProxies(trustProxy: Deps['config']['trustProxy']) {
  if (typeof trustProxy !== 'number') return trustProxy
  return (_address: string, hop: number) => hop < trustProxy
}

async function createRateLimiter(
  app: FastifyInstance,
  perMinute: number,
): Promise<(request: FastifyRequest) => Promise<void>> {
  if (perMinute === 0) return async () => {}
  await app.register(rateLimit, {
    global: false,
    max: ({ caller, directory }) =>
      caller?.kind === 'service' || directory !== null ? perMinute * serviceRateFactor : perMinute,
    timeWindow: 60_000,
    keyGenerator: ({ caller, directory, ip }) => caller?.userId ?? directory?.id ?? senderOf(ip),
  })
  const count = app.createRateLimit()
  return async (request) => {
    if (request.routeOptions.config.rateLimit === false) return
    const state = await count(request)
    if (state.isAllowed || !state.isExceeded) return
    throw tooManyRequests('rate_limited', 'Too many requests; try again later', Math.max(1, state.ttlInSeconds))
  }
}

function parseBody(request: FastifyRequest, body: Buffer): unknown {
  const text = textOf(request, body)
  if (text === '') return undefined
  try {
    return parseStrictJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest('body', 'is not valid JSON', 'malformed_body')
    throw error
  }
}

/** The methods of each path, so that a wrong method is a 405 that names the right ones, not a 404. */
class MethodTable {
  readonly #methodsByUrl = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  add(url: string, method: string | string[]): void {
    const entry = this.#methodsByUrl.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() }
    for (const name of [method].flat()) entry.methods.add(name)
    this.#methodsByUrl.set(url, entry)
  }

  allowedFor(url: string): string[] {
    const path = url.split('?')[0] ?? ''
    const allowed = new Set<string>()
    for (const { pattern, methods } of this.#methodsByUrl.values()) {
      if (pattern.test(path)) for (const method of methods) allowed.add(method)
    }
    return [...allowed].sort()
  }
}

function toPattern(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('/')
  return new RegExp(`^${source}$`)
}
