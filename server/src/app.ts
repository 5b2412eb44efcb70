import type { Deps } from './deps.ts'
import { registerOpenApi } from './http/openapi.ts'
import type { App } from './http/route.ts'
import { ErrorSchema } from './http/schema.ts'
import { createServer } from './http/server.ts'

/** The composition root: every component and every module of the service, in one visible list. */
export async function createApp(deps: Deps): Promise<App> {
  const app = await createServer(deps, components)
  await registerOpenApi(app)
  await app.register(
    async (api) => {
      for (const routes of apiModules) routes(api as unknown as App, deps)
    },
    { prefix: '/api/v1' },
  )
  return app
}

const components = [ErrorSchema]

const apiModules: ((app: App, deps: Deps) => void)[] = []
