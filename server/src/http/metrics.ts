import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Config } from '../config/config.ts'
import { thisVersion } from '../config/version.ts'
import { AppError, unauthorized } from '../lib/errors.ts'
import { equalsSecret } from '../lib/secrets.ts'
import type { App } from './endpoints.ts'
import { route } from './route.ts'

/**
 * Measures requests and serves the measurements, with the figures of the process, at /metrics in the Prometheus text format.
 * The registry belongs to the app; the figures of the process are collected from the first scrape on. They reveal how busy the
 * service is and which parts are used, so they require a token. Without a configured token they are open in demo mode only.
 *
 * @param register adds further gauges to the registry
 */
export function metricsRoutes(
  app: App,
  { metricsToken, demo }: Pick<Config, 'metricsToken' | 'demo'>,
  register: (registry: Registry) => void,
): void {
  const registry = new Registry()
  register(registry)
  new Gauge({
    name: 'strongroom_build_info',
    help: 'Always 1; the labels name the version of this node and, if known, its commit.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: thisVersion.version, commit: thisVersion.commit ?? '' }, 1)
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  app.addHook('onResponse', async (request, reply) => {
    // Paths without a route share one label, so that a scanner cannot fill the memory.
    const label = request.is404 ? 'none' : (request.routeOptions.url ?? 'none')
    durations.observe(
      { method: request.method, route: label, status: String(reply.statusCode) },
      reply.elapsedTime / 1000,
    )
  })

  let collectsProcess = false
  const spec = route({
    operationId: 'getMetrics',
    summary: 'Get metrics',
    description:
      'Metrics in the Prometheus text format: requests by route and status, the process, transfers, wallet events, mails, ' +
      'seals, rates and wallet services. Requires `Authorization: Bearer` ' +
      'with the token of the setting METRICS_TOKEN. Without that setting the endpoint is open in demo mode and answers ' +
      '404 outside of it.',
    tag: 'Service',
    access: 'public',
    errors: [401, 404],
    answers: {
      200: {
        description: 'Prometheus text format 0.0.4',
        content: {
          'text/plain': { schema: { type: 'string', examples: ['process_start_time_seconds 1768990000\n'] } },
        },
      } as never,
    },
  })
  app.get('/metrics', { ...spec, config: { ...spec.config, rateLimit: false } }, async (request, reply) => {
    if (metricsToken === null && !demo) throw new AppError('no_such_route', 'There is no such route')
    if (metricsToken !== null && !equalsSecret(request.headers.authorization ?? '', `Bearer ${metricsToken}`)) {
      throw unauthorized('invalid_token', 'The token of METRICS_TOKEN is required')
    }
    if (!collectsProcess) collectDefaultMetrics({ register: registry })
    collectsProcess = true
    return reply.type(registry.contentType).send((await registry.metrics()) as never)
  })
}
