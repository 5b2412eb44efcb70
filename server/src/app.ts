import type { Deps } from './deps.ts'
import { healthRoutes } from './http/health.ts'
import { metricsRoutes } from './http/metrics.ts'
import { registerOpenApi } from './http/openapi.ts'
import type { App } from './http/route.ts'
import { ErrorSchema } from './http/schema.ts'
import { createServer } from './http/server.ts'
import { addressRoutes } from './modules/addresses/routes.ts'
import { addressComponents } from './modules/addresses/schema.ts'
import { auditRoutes } from './modules/audit/routes.ts'
import { auditComponents } from './modules/audit/schema.ts'
import { authRoutes } from './modules/auth/routes.ts'
import { authComponents } from './modules/auth/schema.ts'
import { creditUnmatchedEvents } from './modules/deposits/actions.ts'
import { depositRoutes, webhookRoutes } from './modules/deposits/routes.ts'
import { depositComponents } from './modules/deposits/schema.ts'
import { historyRoutes } from './modules/history/routes.ts'
import { historyComponents } from './modules/history/schema.ts'
import { invitationRoutes } from './modules/invitations/routes.ts'
import { invitationComponents } from './modules/invitations/schema.ts'
import { ledgerRoutes } from './modules/ledger/routes.ts'
import { ledgerComponents } from './modules/ledger/schema.ts'
import { policyRoutes } from './modules/policies/routes.ts'
import { policyComponents } from './modules/policies/schema.ts'
import { rateRoutes } from './modules/rates/routes.ts'
import { rateComponents } from './modules/rates/schema.ts'
import { registryRoutes } from './modules/registry/routes.ts'
import { registryComponents } from './modules/registry/schema.ts'
import { serviceTokenRoutes } from './modules/service-tokens/routes.ts'
import { serviceTokenComponents } from './modules/service-tokens/schema.ts'
import { transferRoutes } from './modules/transfers/routes.ts'
import { transferComponents } from './modules/transfers/schema.ts'
import { userRoutes } from './modules/users/routes.ts'
import { userComponents } from './modules/users/schema.ts'
import { vaultsRoutes } from './modules/vaults/routes.ts'
import { vaultsComponents } from './modules/vaults/schema.ts'
import { registerPages } from './pages/sign-in.ts'

/** The composition root: every component and every module of the service, in one visible list. */
export async function createApp(deps: Deps): Promise<App> {
  const app = await createServer(deps, components)
  await registerOpenApi(app)
  healthRoutes(app, deps)
  metricsRoutes(app)
  await app.register(
    async (api) => {
      for (const routes of apiModules) routes(api as unknown as App, deps)
    },
    { prefix: '/api/v1' },
  )
  await app.register(async (webhook) => webhookRoutes(webhook as unknown as App, deps))
  registerPages(app, deps)
  return app
}

const components = [
  ErrorSchema,
  ...auditComponents,
  ...userComponents,
  ...authComponents,
  ...invitationComponents,
  ...serviceTokenComponents,
  ...policyComponents,
  ...registryComponents,
  ...rateComponents,
  ...vaultsComponents,
  ...ledgerComponents,
  ...depositComponents,
  ...transferComponents,
  ...historyComponents,
  ...addressComponents,
]

const apiModules: ((app: App, deps: Deps) => void)[] = [
  auditRoutes,
  userRoutes,
  authRoutes,
  invitationRoutes,
  serviceTokenRoutes,
  policyRoutes,
  registryRoutes,
  rateRoutes,
  vaultsRoutes,
  ledgerRoutes,
  depositRoutes,
  transferRoutes,
  historyRoutes,
  // Events that came before their address are credited when it appears; addresses know nothing of deposits.
  (app, deps) =>
    addressRoutes(app, deps, {
      onAddressCreated: (trx, { network_id, address_key }) =>
        creditUnmatchedEvents(trx, { networkId: network_id, addressKey: address_key }, deps.clock()),
    }),
]
