import { callerOf } from './access/caller.ts'
import { governedOf } from './composition/governed.ts'
import type { Deps } from './deps.ts'
import type { App } from './http/endpoints.ts'
import { healthRoutes } from './http/health.ts'
import { metricsRoutes } from './http/metrics.ts'
import { registerOpenApi } from './http/openapi.ts'
import { ErrorSchema } from './http/schema.ts'
import { ScimError, scimPrefix } from './http/scim-form.ts'
import { createServer } from './http/server.ts'
import { registerGauges } from './jobs/watch/gauges.ts'
import { createWatch } from './jobs/watch/samples.ts'
import { counterpartyExecutors } from './modules/address-book/counterparties/actions.ts'
import { counterpartyRoutes } from './modules/address-book/counterparties/routes.ts'
import { counterpartyComponents } from './modules/address-book/counterparties/schema.ts'
import { counterpartyGroupExecutors } from './modules/address-book/groups/actions.ts'
import { counterpartyGroupRoutes } from './modules/address-book/groups/routes.ts'
import { counterpartyGroupComponents } from './modules/address-book/groups/schema.ts'
import { recipientRoutes } from './modules/address-book/recipients/routes.ts'
import { recipientComponents } from './modules/address-book/recipients/schema.ts'
import { adjustExecutor } from './modules/money/adjustments/adjust-together.ts'
import { adjustmentRoutes } from './modules/money/adjustments/routes.ts'
import { backtestRoutes } from './modules/money/backtests/routes.ts'
import { backtestComponents } from './modules/money/backtests/schema.ts'
import { creditUnmatchedEvents } from './modules/money/deposits/actions.ts'
import { eventResolveExecutor } from './modules/money/deposits/resolve-event.ts'
import { depositRoutes, webhookRoutes } from './modules/money/deposits/routes.ts'
import { depositComponents } from './modules/money/deposits/schema.ts'
import { holdExecutors } from './modules/money/holds/release.ts'
import { holdRoutes } from './modules/money/holds/routes.ts'
import { holdComponents } from './modules/money/holds/schema.ts'
import { inboxRoutes } from './modules/money/inbox/routes.ts'
import { inboxComponents } from './modules/money/inbox/schema.ts'
import { ledgerRoutes } from './modules/money/ledger/routes.ts'
import { ledgerComponents } from './modules/money/ledger/schema.ts'
import { orderComponents } from './modules/money/orders/schema.ts'
import { payoutRoutes } from './modules/money/payouts/routes.ts'
import { payoutComponents } from './modules/money/payouts/schema.ts'
import { reconciliationRoutes } from './modules/money/reconciliations/routes.ts'
import { screeningComponents } from './modules/money/screening/schema.ts'
import { simulationRoutes } from './modules/money/simulations/routes.ts'
import { simulationComponents } from './modules/money/simulations/schema.ts'
import { raiseFeeExecutor } from './modules/money/stuck/raise-fee.ts'
import { transferResolveExecutor } from './modules/money/stuck/resolve.ts'
import { stuckTransferRoutes } from './modules/money/stuck/routes.ts'
import { stuckTransferComponents } from './modules/money/stuck/schema.ts'
import { evidenceComponents } from './modules/money/transfers/evidence-schema.ts'
import { transferRoutes } from './modules/money/transfers/routes.ts'
import { transferComponents } from './modules/money/transfers/schema.ts'
import { ledgerVerificationRoutes } from './modules/money/verifications/routes.ts'
import { ledgerVerificationComponents } from './modules/money/verifications/schema.ts'
import { categoryExecutors } from './modules/operations/assignments/actions.ts'
import { categoryAssignmentRoutes } from './modules/operations/assignments/routes.ts'
import { categoryAssignmentComponents } from './modules/operations/assignments/schema.ts'
import { operationCategoryRoutes } from './modules/operations/categories/routes.ts'
import { operationCategoryComponents } from './modules/operations/categories/schema.ts'
import { changeRoutes } from './modules/operations/changes/routes.ts'
import { changesComponents } from './modules/operations/changes/schema.ts'
import { historyRoutes } from './modules/operations/history/routes.ts'
import { historyComponents } from './modules/operations/history/schema.ts'
import { lateRateRoutes } from './modules/operations/late-rates/routes.ts'
import { operationRateComponents } from './modules/operations/late-rates/schema.ts'
import { operationMetadataRoutes } from './modules/operations/metadata/routes.ts'
import { operationMetadataComponents } from './modules/operations/metadata/schema.ts'
import { operationRelationRoutes } from './modules/operations/relations/routes.ts'
import { operationRelationComponents } from './modules/operations/relations/schema.ts'
import { searchRoutes } from './modules/operations/search/routes.ts'
import { searchComponents } from './modules/operations/search/schema.ts'
import { activateDirectory } from './modules/people/directories/actions.ts'
import { directoryRoutes } from './modules/people/directories/routes.ts'
import { directoryComponents } from './modules/people/directories/schema.ts'
import { invitationRoutes } from './modules/people/invitations/routes.ts'
import { invitationComponents } from './modules/people/invitations/schema.ts'
import { memberRoutes } from './modules/people/members/routes.ts'
import { memberComponents } from './modules/people/members/schema.ts'
import { enable } from './modules/people/offboarding/offboarding.ts'
import { offboardingRoutes } from './modules/people/offboarding/routes.ts'
import { assertConfirmed } from './modules/people/passkeys/confirmation.ts'
import { passkeyRoutes } from './modules/people/passkeys/routes.ts'
import { passkeyComponents } from './modules/people/passkeys/schema.ts'
import { passkeyExecutors } from './modules/people/passkeys/second-person.ts'
import { identityProviderRoutes } from './modules/people/provider-sign-in/routes.ts'
import { activateProvider } from './modules/people/providers/actions.ts'
import { nameBreakGlassPerson, removeBreakGlassPerson } from './modules/people/providers/break-glass.ts'
import { enforceProvider } from './modules/people/providers/enforcement.ts'
import { providerComponents } from './modules/people/providers/schema.ts'
import { scimGroupRoutes } from './modules/people/scim/group-routes.ts'
import { scimRoutes } from './modules/people/scim/routes.ts'
import { scimComponents } from './modules/people/scim/schema.ts'
import { serviceTokenRoutes } from './modules/people/service-tokens/routes.ts'
import { serviceTokenComponents } from './modules/people/service-tokens/schema.ts'
import { authRoutes } from './modules/people/sign-in/routes.ts'
import { authComponents } from './modules/people/sign-in/schema.ts'
import { endSessionsBesideProvider } from './modules/people/sign-in/sessions.ts'
import { userRoutes } from './modules/people/users/routes.ts'
import { userComponents } from './modules/people/users/schema.ts'
import { auditRoutes } from './modules/record/audit/routes.ts'
import { auditComponents } from './modules/record/audit/schema.ts'
import { imageRoutes } from './modules/registry/images/routes.ts'
import { networkRoutes } from './modules/registry/networks/routes.ts'
import { networkComponents } from './modules/registry/networks/schema.ts'
import type { PlatformExecutors } from './modules/registry/platform-changes/actions.ts'
import { platformChangeRoutes } from './modules/registry/platform-changes/routes.ts'
import { platformChangeComponents } from './modules/registry/platform-changes/schema.ts'
import { rateRoutes } from './modules/registry/rates/routes.ts'
import { rateComponents } from './modules/registry/rates/schema.ts'
import { updateToken } from './modules/registry/tokens/actions.ts'
import { tokenRoutes } from './modules/registry/tokens/routes.ts'
import { tokenComponents } from './modules/registry/tokens/schema.ts'
import { balanceTimelineRoutes } from './modules/reports/balance-timeline/routes.ts'
import { balanceTimelineComponents } from './modules/reports/balance-timeline/schema.ts'
import { reportComponents } from './modules/reports/catalogue/catalogue.ts'
import { reportRoutes } from './modules/reports/catalogue/routes.ts'
import { reportExportRoutes } from './modules/reports/exports/routes.ts'
import { reportExportComponents } from './modules/reports/exports/schema.ts'
import { approvalRequestRoutes } from './modules/rules/approval-requests/routes.ts'
import { approvalRequestComponents } from './modules/rules/approval-requests/schema.ts'
import { changeSetRoutes } from './modules/rules/change-sets/routes.ts'
import { rulesExecutor } from './modules/rules/change-sets/rules-executor.ts'
import { changeSetComponents } from './modules/rules/change-sets/schema.ts'
import { decisionComponents } from './modules/rules/decisions/schema.ts'
import { governanceRoutes } from './modules/rules/governance/routes.ts'
import { governanceComponents } from './modules/rules/governance/schema.ts'
import { withheldTokenRoutes } from './modules/rules/governance/withheld-token-routes.ts'
import { policyFormComponents } from './modules/rules/policies/form-schema.ts'
import { policyComponents } from './modules/rules/policies/schema.ts'
import { policyRoutes } from './modules/rules/policy-editing/routes.ts'
import { policyGroupComponents } from './modules/rules/policy-groups/schema.ts'
import { rulesVersionRoutes } from './modules/rules/rules-versions/routes.ts'
import { rulesVersionComponents } from './modules/rules/rules-versions/schema.ts'
import { selectorComponents } from './modules/rules/selectors/selector-schema.ts'
import { signatureComponents } from './modules/rules/signatures/schema.ts'
import type { Executors } from './modules/rules/votes/executor.ts'
import { createAddressExecutor } from './modules/vaults/addresses/actions.ts'
import { addressRoutes } from './modules/vaults/addresses/routes.ts'
import { addressComponents } from './modules/vaults/addresses/schema.ts'
import { addressGroupRoutes } from './modules/vaults/folders/routes.ts'
import { addressGroupComponents } from './modules/vaults/folders/schema.ts'
import { addressGrantRoutes } from './modules/vaults/grants/routes.ts'
import { addressGrantComponents } from './modules/vaults/grants/schema.ts'
import { vaultsComponents } from './modules/vaults/structure/schema.ts'
import { vaultsRoutes } from './modules/vaults/vaults/routes.ts'
import { registerChangePages } from './pages/changes.ts'
import { consoleFolder, registerConsole } from './pages/console.ts'
import { registerProviderPages } from './pages/provider-sign-in.ts'
import { registerReference } from './pages/reference.ts'
import { registerPages } from './pages/sign-in.ts'

/** Builds the application from the components and the routes of all modules, which the lists below name. */
export async function createApp(deps: Deps): Promise<App> {
  const app = await createServer(deps, components)
  app.decorate('assertConfirmed', (trx, request, confirming) =>
    assertConfirmed(trx, deps, { caller: callerOf(request), request, now: deps.clock(), ...confirming }),
  )
  await registerOpenApi(app)
  healthRoutes(app, deps)
  const watch = createWatch(deps)
  metricsRoutes(app, deps.config, (registry) => registerGauges(registry, watch))
  await app.register(
    async (api) => {
      for (const routes of apiModules) routes(api as unknown as App, deps)
    },
    { prefix: '/api/v1' },
  )
  await app.register(
    async (scim) => {
      for (const routes of [scimRoutes, scimGroupRoutes]) routes(scim as unknown as App, deps)
    },
    { prefix: scimPrefix },
  )
  await app.register(async (webhook) => webhookRoutes(webhook as unknown as App, deps))
  const folder = consoleFolder(deps)
  await app.register(async (pages) => {
    if (folder === null) registerReference(pages as unknown as App)
    else await registerConsole(pages as unknown as App, folder)
    registerPages(pages as unknown as App, deps, folder !== null)
    registerProviderPages(pages as unknown as App, deps)
  })
  await app.register(async (pages) => registerChangePages(pages as unknown as App, deps))
  return app
}

const components = [
  ErrorSchema,
  ScimError,
  ...auditComponents,
  ...userComponents,
  ...authComponents,
  ...passkeyComponents,
  ...providerComponents,
  ...directoryComponents,
  ...scimComponents,
  ...memberComponents,
  ...invitationComponents,
  ...serviceTokenComponents,
  ...selectorComponents,
  ...policyGroupComponents,
  ...policyComponents,
  ...decisionComponents,
  ...policyFormComponents,
  ...backtestComponents,
  ...simulationComponents,
  ...signatureComponents,
  ...approvalRequestComponents,
  ...governanceComponents,
  ...rulesVersionComponents,
  ...changeSetComponents,
  ...networkComponents,
  ...tokenComponents,
  ...rateComponents,
  ...platformChangeComponents,
  ...vaultsComponents,
  ...ledgerComponents,
  ...ledgerVerificationComponents,
  ...balanceTimelineComponents,
  ...counterpartyComponents,
  ...recipientComponents,
  ...counterpartyGroupComponents,
  ...screeningComponents,
  ...depositComponents,
  ...transferComponents,
  ...orderComponents,
  ...holdComponents,
  ...evidenceComponents,
  ...stuckTransferComponents,
  ...inboxComponents,
  ...changesComponents,
  ...payoutComponents,
  ...historyComponents,
  ...searchComponents,
  ...reportComponents,
  ...reportExportComponents,
  ...operationCategoryComponents,
  ...categoryAssignmentComponents,
  ...operationMetadataComponents,
  ...operationRateComponents,
  ...operationRelationComponents,
  ...addressComponents,
  ...addressGrantComponents,
  ...addressGroupComponents,
]

/** The actions that two platform administrators carry out together. */
const platformExecutors: PlatformExecutors = {
  token_update: async (trx, id, payload, by) => {
    await updateToken(trx, id, payload, by)
  },
  user_enable: async (trx, userId, { reason }, { caller, now }) => {
    await enable(trx, { userId, reason: String(reason), actorId: caller.userId, now })
  },
  identity_provider_activate: activateProvider,
  directory_activate: activateDirectory,
  identity_provider_enforce: (trx, id, payload, by) => enforceProvider(trx, id, payload, by, endSessionsBesideProvider),
  break_glass_name: (trx, userId, _payload, by) => nameBreakGlassPerson(trx, userId, by),
  break_glass_remove: (trx, userId, _payload, by) => removeBreakGlassPerson(trx, userId, by),
}

const apiModules: ((app: App, deps: Deps) => void)[] = [
  auditRoutes,
  userRoutes,
  offboardingRoutes,
  authRoutes,
  passkeyRoutes,
  identityProviderRoutes,
  directoryRoutes,
  memberRoutes,
  invitationRoutes,
  serviceTokenRoutes,
  policyRoutes,
  governanceRoutes,
  rulesVersionRoutes,
  (app, deps) => changeSetRoutes(app, { deps, governed: governedOf(deps) }),
  withheldTokenRoutes,
  imageRoutes,
  networkRoutes,
  tokenRoutes,
  rateRoutes,
  (app, deps) => platformChangeRoutes(app, deps, platformExecutors),
  vaultsRoutes,
  ledgerRoutes,
  adjustmentRoutes,
  reconciliationRoutes,
  ledgerVerificationRoutes,
  balanceTimelineRoutes,
  (app, deps) => depositRoutes(app, deps, executorsOf(deps)),
  transferRoutes,
  (app, deps) => stuckTransferRoutes(app, deps, executorsOf(deps)),
  (app, deps) => holdRoutes(app, deps, executorsOf(deps)),
  (app, deps) => inboxRoutes(app, deps, executorsOf(deps)),
  changeRoutes,
  payoutRoutes,
  backtestRoutes,
  (app, deps) => simulationRoutes(app, deps, executorsOf(deps)),
  historyRoutes,
  searchRoutes,
  reportRoutes,
  reportExportRoutes,
  operationCategoryRoutes,
  categoryAssignmentRoutes,
  operationMetadataRoutes,
  lateRateRoutes,
  operationRelationRoutes,
  (app, deps) => addressRoutes(app, deps, executorsOf(deps)),
  addressGrantRoutes,
  addressGroupRoutes,
  (app, deps) => counterpartyRoutes(app, deps, counterpartyExecutors),
  (app, deps) => counterpartyGroupRoutes(app, deps, counterpartyGroupExecutors),
  recipientRoutes,
  (app, deps) => approvalRequestRoutes(app, deps, executorsOf(deps)),
]

/** Returns the executor of each gated action, which runs at once or after the votes. The approval engine depends on no domain. */
function executorsOf(deps: Deps): Required<Executors> {
  return {
    ...counterpartyExecutors,
    ...counterpartyGroupExecutors,
    ...categoryExecutors,
    ...holdExecutors,
    // The creation of an address credits the events that arrived before it. It happens here, as addresses do not import deposits.
    create_address: createAddressExecutor(deps, {
      onAddressCreated: (trx, { vault_id: vaultId, network_id: networkId, address_key: addressKey }) =>
        creditUnmatchedEvents(
          trx,
          { vaultId, networkId, addressKey },
          { now: deps.clock(), isScreened: deps.config.screening !== null },
        ),
    }),
    transfer_resolve: transferResolveExecutor(deps),
    event_resolve: eventResolveExecutor(deps),
    transfer_replace: raiseFeeExecutor,
    rules_change: rulesExecutor({ deps, governed: governedOf(deps) }),
    ...passkeyExecutors,
    balance_adjust: adjustExecutor,
  }
}
