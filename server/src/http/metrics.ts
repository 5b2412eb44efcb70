import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { type App, route } from './route.ts'

/**
 * Measures requests and serves them, with the figures of the process, at /metrics in the Prometheus text format. The
 * registry belongs to the app; the figures of the process are collected from the first scrape on.
 */
export function metricsRoutes(app: App): void {
  const registry = new Registry()
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  app.addHook('onResponse', async (request, reply) => {
    // Paths that no route knows share one label: a scanner must not fill the memory.
    const label = request.is404 ? 'none' : (request.routeOptions.url ?? 'none')
    durations.observe(
      { method: request.method, route: label, status: String(reply.statusCode) },
      reply.elapsedTime / 1000,
    )
  })

  let collectsProcess = false
  const spec = route({
    operationId: 'getMetrics',
    summary: 'Measurements in the Prometheus text format',
    tag: 'Service',
    access: 'public',
    answers: {
      200: {
        description: 'Prometheus text format 0.0.4',
        content: {
          'text/plain': { schema: { type: 'string', examples: ['process_start_time_seconds 1768990000\n'] } },
        },
      } as never,
    },
  })
  app.get('/metrics', { ...spec, config: { ...spec.config, rateLimit: false } }, async (_request, reply) => {
    if (!collectsProcess) collectDefaultMetrics({ register: registry })
    collectsProcess = true
    return reply.type(registry.contentType).send((await registry.metrics()) as never)
  })
}
