import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { noContent, ok } from '../../../http/mutate.ts'
import { VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { listWithheld } from '../../registry/tokens/withheld.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import { acceptWithheldToken } from './accept-token.ts'
import type { Governed } from './actions.ts'
import type { Engine } from './apply.ts'
import { changeSetRoutes } from './change-set-routes.ts'
import { governedIn } from './govern.ts'
import { toDifference, toVersion, toVersionListItem, toWithheldToken } from './present.ts'
import { readGovernance } from './queries.ts'
import { assertReadsRules, readersOfRules as readers, readsRules } from './readers.ts'
import {
  DifferenceQuery,
  Governance,
  GovernanceUpdate,
  RulesDifference,
  RulesVersion,
  RulesVersionListItem,
  VersionParams,
  VersionQuery,
  WithheldTokens,
} from './schema.ts'
import { updateGovernance } from './settings.ts'
import { findVersion, listVersions, positionOfVersion, readVersion } from './versions.ts'

const ofVault = { access: 'member', params: VaultParams } as const
const ofAdministrator = { access: 'administrator', params: VaultParams } as const
const ofChangeSet = { access: 'administrator', params: VaultAndIdParams } as const
export function governanceRoutes(app: App, deps: Deps, governed: Governed): void {
  const engine: Engine = { deps, governed }
  settings(app, engine)
  versions(app, engine)
  changeSetRoutes(app, engine)
  withheldTokens(app, engine)
}

function settings(app: App, engine: Engine): void {
  const api = endpoints(app, engine.deps, 'Governance')
  api.get(
    '/vaults/:code/governance',
    {
      operationId: 'getGovernance',
      summary: 'Get the governance of a vault',
      description: 'For members of the vault.',
      ...ofVault,
      answers: { 200: Governance },
    },
    (db, { member }) => readGovernance(db, member.vault.id),
  )

  api.put(
    '/vaults/:code/governance',
    {
      operationId: 'updateGovernance',
      summary: 'Change the governance of a vault',
      description:
        'For administrators of the vault. While the threshold is 0, a change takes effect at once; from then on it waits ' +
        'for votes itself (202), in whichever direction. 409 when the group that votes has too few people.',
      ...ofAdministrator,
      errors: ['limit_reached', 'quorum_unreachable'],
      body: GovernanceUpdate,
      confirmed: 'where protected',
      answers: { 200: Governance, 202: WaitingAction },
    },
    (trx, { body, ...by }) =>
      governedIn(engine.deps)(trx, by, ['governance_update', null, body], async () =>
        ok(await updateGovernance(trx, body, by)),
      ),
  )
}

function versions(app: App, engine: Engine): void {
  const api = endpoints(app, engine.deps, 'Governance')
  api.list(
    '/vaults/:code/rules/versions',
    {
      operationId: 'listRulesVersions',
      summary: 'List the versions of the rules',
      description: `The newest first, without their documents. ${readers}`,
      ...ofVault,
      querystring: VersionQuery,
      item: RulesVersionListItem,
    },
    async (db, { member, now }, page) => {
      return (await readsRules(db, member)) ? listVersions(db, member.vault.id, { ...page, now }) : []
    },
    toVersionListItem,
    positionOfVersion,
  )

  api.get(
    '/vaults/:code/rules/versions/:number',
    {
      operationId: 'getRulesVersion',
      summary: 'Get a version of the rules',
      description: `With the whole document of the rules. ${readers}`,
      access: 'member',
      params: VersionParams,
      answers: { 200: RulesVersion },
    },
    async (db, { member, params, now }) => {
      await assertReadsRules(db, member, 'Version')
      return toVersion(orNotFound(await readVersion(db, member.vault.id, params.number, now), 'Version'))
    },
  )

  api.get(
    '/vaults/:code/rules/versions/:number/diff',
    {
      operationId: 'compareRulesVersions',
      summary: 'Compare two versions of the rules',
      description: `What differs between a version and the version \`to\`. ${readers}`,
      access: 'member',
      params: VersionParams,
      querystring: DifferenceQuery,
      answers: { 200: RulesDifference },
    },
    async (db, { member, params, query, now }) => {
      await assertReadsRules(db, member, 'Version')
      const from = orNotFound(await readVersion(db, member.vault.id, params.number, now), 'Version')
      return toDifference(from, orNotFound(await findVersion(db, member.vault.id, query.to), 'Version'))
    },
  )
}

function withheldTokens(app: App, { deps }: Engine): void {
  const api = endpoints(app, deps, 'Governance')
  const governed = governedIn(deps)
  api.get(
    '/vaults/:code/withheld-tokens',
    {
      operationId: 'listWithheldTokens',
      summary: 'List withheld tokens',
      description:
        'Tokens that the platform enabled after the vault had governance, and that the vault has not accepted: no transfer ' +
        'of them is ordered. For administrators and auditors of the vault.',
      access: 'auditor',
      params: VaultParams,
      answers: { 200: WithheldTokens },
    },
    async (db, { member }) => ({ items: (await listWithheld(db, member.vault.id)).map(toWithheldToken) }),
  )

  api.post(
    '/vaults/:code/withheld-tokens/:id/accept',
    {
      operationId: 'acceptToken',
      summary: 'Accept a withheld token',
      description: 'For administrators of the vault. It waits for votes (202) while the vault has governance.',
      ...ofChangeSet,
      errors: ['limit_reached', 'quorum_unreachable'],
      confirmed: 'where protected',
      answers: { 202: WaitingAction, 204: null },
    },
    (trx, { params: { id }, ...by }) =>
      governed(trx, by, ['token_accept', id, {}], async () => {
        await acceptWithheldToken(trx, id, by)
        return noContent()
      }),
  )
}
