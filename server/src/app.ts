import type { Deps } from './deps.ts'
import { healthRoutes } from './http/health.ts'
import { metricsRoutes } from './http/metrics.ts'
import { registerOpenApi } from './http/openapi.ts'
import type { App } from './http/route.ts'
import { ErrorSchema } from './http/schema.ts'
import { createServer } from './http/server.ts'
import { addressGrantRoutes } from './modules/address-grants/routes.ts'
import { addressGrantComponents } from './modules/address-grants/schema.ts'
import { addressGroupRoutes } from './modules/address-groups/routes.ts'
import { addressGroupComponents } from './modules/address-groups/schema.ts'
import { createAddressApplier } from './modules/addresses/apply-create.ts'
import { addressRoutes } from './modules/addresses/routes.ts'
import { addressComponents } from './modules/addresses/schema.ts'
import { approvalRequestRoutes } from './modules/approval-requests/routes.ts'
import { approvalRequestComponents } from './modules/approval-requests/schema.ts'
import type { Appliers } from './modules/approvals/applier.ts'
import { auditRoutes } from './modules/audit/routes.ts'
import { auditComponents } from './modules/audit/schema.ts'
import { authRoutes } from './modules/auth/routes.ts'
import { authComponents } from './modules/auth/schema.ts'
import { categoryAppliers } from './modules/category-assignments/appliers.ts'
import { categoryAssignmentRoutes } from './modules/category-assignments/routes.ts'
import { categoryAssignmentComponents } from './modules/category-assignments/schema.ts'
import { counterpartyAppliers } from './modules/counterparties/appliers.ts'
import { counterpartyRoutes } from './modules/counterparties/routes.ts'
import { counterpartyComponents } from './modules/counterparties/schema.ts'
import { counterpartyGroupAppliers } from './modules/counterparty-groups/appliers.ts'
import { counterpartyGroupRoutes } from './modules/counterparty-groups/routes.ts'
import { counterpartyGroupComponents } from './modules/counterparty-groups/schema.ts'
import { creditUnmatchedEvents } from './modules/deposits/actions.ts'
import { depositRoutes, webhookRoutes } from './modules/deposits/routes.ts'
import { depositComponents } from './modules/deposits/schema.ts'
import { historyRoutes } from './modules/history/routes.ts'
import { historyComponents } from './modules/history/schema.ts'
import { invitationRoutes } from './modules/invitations/routes.ts'
import { invitationComponents } from './modules/invitations/schema.ts'
import { ledgerRoutes } from './modules/ledger/routes.ts'
import { ledgerComponents } from './modules/ledger/schema.ts'
import { operationCategoryRoutes } from './modules/operation-categories/routes.ts'
import { operationCategoryComponents } from './modules/operation-categories/schema.ts'
import { operationMetadataRoutes } from './modules/operation-metadata/routes.ts'
import { operationMetadataComponents } from './modules/operation-metadata/schema.ts'
import { operationRelationRoutes } from './modules/operation-relations/routes.ts'
import { operationRelationComponents } from './modules/operation-relations/schema.ts'
import { policyRoutes } from './modules/policies/routes.ts'
import { policyComponents } from './modules/policies/schema.ts'
import { rateRoutes } from './modules/rates/routes.ts'
import { rateComponents } from './modules/rates/schema.ts'
import { registryRoutes } from './modules/registry/routes.ts'
import { registryComponents } from './modules/registry/schema.ts'
import { reportExportRoutes } from './modules/report-exports/routes.ts'
import { reportExportComponents } from './modules/report-exports/schema.ts'
import { reportRoutes } from './modules/reports/routes.ts'
import { reportComponents } from './modules/reports/schema.ts'
import { serviceTokenRoutes } from './modules/service-tokens/routes.ts'
import { serviceTokenComponents } from './modules/service-tokens/schema.ts'
import { simulationRoutes } from './modules/simulations/routes.ts'
import { simulationComponents } from './modules/simulations/schema.ts'
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
  metricsRoutes(app, deps.config)
  await app.register(
    async (api) => {
      for (const routes of apiModules) routes(api as unknown as App, deps)
    },
    { prefix: '/api/v1' },
  )
  await app.register(async (webhook) => webhookRoutes(webhook as unknown as App, deps))
  await app.register(async (pages) => registerPages(pages as unknown as App, deps))
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
  ...simulationComponents,
  ...approvalRequestComponents,
  ...registryComponents,
  ...rateComponents,
  ...vaultsComponents,
  ...ledgerComponents,
  ...counterpartyComponents,
  ...counterpartyGroupComponents,
  ...depositComponents,
  ...transferComponents,
  ...historyComponents,
  ...reportComponents,
  ...reportExportComponents,
  ...operationCategoryComponents,
  ...categoryAssignmentComponents,
  ...operationMetadataComponents,
  ...operationRelationComponents,
  ...addressComponents,
  ...addressGrantComponents,
  ...addressGroupComponents,
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
  (app, deps) => simulationRoutes(app, deps, appliersOf(deps)),
  historyRoutes,
  reportRoutes,
  reportExportRoutes,
  operationCategoryRoutes,
  categoryAssignmentRoutes,
  operationMetadataRoutes,
  operationRelationRoutes,
  (app, deps) => addressRoutes(app, deps, appliersOf(deps)),
  addressGrantRoutes,
  addressGroupRoutes,
  (app, deps) => counterpartyRoutes(app, deps, counterpartyAppliers),
  (app, deps) => counterpartyGroupRoutes(app, deps, counterpartyGroupAppliers),
  (app, deps) => approvalRequestRoutes(app, deps, appliersOf(deps)),
]

/** How each gated action is done, at once or after its votes; the approval engine knows no target. */
function appliersOf(deps: Deps): Required<Appliers> {
  return {
    ...counterpartyAppliers,
    ...counterpartyGroupAppliers,
    ...categoryAppliers,
    // Events that came before their address are credited when it appears; addresses know nothing of deposits.
    create_address: createAddressApplier(deps, {
      onAddressCreated: (trx, { vault_id: vaultId, network_id: networkId, address_key: addressKey }) =>
        creditUnmatchedEvents(trx, { vaultId, networkId, addressKey }, deps.clock()),
    }),
  }
}
