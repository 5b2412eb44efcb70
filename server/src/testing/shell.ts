import type { Deps } from '../deps.ts'
import type { App } from '../http/endpoints.ts'
import { ErrorSchema } from '../http/schema.ts'
import { createServer } from '../http/server.ts'

/** Creates the HTTP shell with routes of a test. */
export async function createTestShell(deps: Deps, addRoutes: (app: App) => void): Promise<App> {
  const app = await createServer(deps, [ErrorSchema])
  addRoutes(app)
  await app.ready()
  return app
}
