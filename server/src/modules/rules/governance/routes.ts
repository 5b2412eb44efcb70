import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { listWithheld } from '../../registry/tokens/withheld.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import type { Governed } from './actions.ts'
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
  versionParams,
  WithheldTokens,
} from './schema.ts'
import { acceptWithheldToken, updateGovernance } from './settings.ts'
import { findVersion, listVersions, positionOfVersion, readVersion } from './versions.ts'
export function governanceRoutes(app: App, deps: Deps, governed: Governed): void {
  const api = endpoints(app, deps, 'Governance', { access: 'member' })
  const govern = governedIn(deps)

  api.get('getGovernance', '/vaults/:code/governance', {
    summary: 'Get the governance of a vault',
    description: 'For members of the vault.',
    answers: { 200: Governance },
    handler: (db, { member }) => readGovernance(db, member.vault.id),
  })

  api.put('updateGovernance', '/vaults/:code/governance', {
    summary: 'Change the governance of a vault',
    description:
      'For administrators of the vault. While the threshold is 0, a change takes effect at once; from then on it waits ' +
      'for votes itself (202), in whichever direction. 409 when the group that votes has too few people.',
    access: 'administrator',
    errors: ['limit_reached', 'quorum_unreachable'],
    body: GovernanceUpdate,
    confirmed: 'where protected',
    answers: { 200: Governance, 202: WaitingAction },
    handler: (trx, { body, ...by }) =>
      govern(trx, by, ['governance_update', null, body], () => updateGovernance(trx, body, by)),
  })

  api.list('listRulesVersions', '/vaults/:code/rules/versions', {
    summary: 'List the versions of the rules',
    description: `The newest first, without their documents. ${readers}`,
    item: RulesVersionListItem,
    load: async (db, { member, now }, page) =>
      (await readsRules(db, member)) ? listVersions(db, member.vault.id, { ...page, now }) : [],
    present: toVersionListItem,
    position: positionOfVersion,
  })

  api.get('getRulesVersion', '/vaults/:code/rules/versions/:number', {
    summary: 'Get a version of the rules',
    description: `With the whole document of the rules. ${readers}`,
    params: versionParams,
    answers: { 200: RulesVersion },
    handler: async (db, { member, params, now }) => {
      await assertReadsRules(db, member, 'Version')
      return toVersion(orNotFound(await readVersion(db, member.vault.id, params.number, now), 'Version'))
    },
  })

  api.get('compareRulesVersions', '/vaults/:code/rules/versions/:number/diff', {
    summary: 'Compare two versions of the rules',
    description: `What differs between a version and the version \`to\`. ${readers}`,
    params: versionParams,
    querystring: DifferenceQuery,
    answers: { 200: RulesDifference },
    handler: async (db, { member, params, query, now }) => {
      await assertReadsRules(db, member, 'Version')
      const from = orNotFound(await readVersion(db, member.vault.id, params.number, now), 'Version')
      return toDifference(from, orNotFound(await findVersion(db, member.vault.id, query.to), 'Version'))
    },
  })

  changeSetRoutes(app, { deps, governed })

  api.get('listWithheldTokens', '/vaults/:code/withheld-tokens', {
    summary: 'List withheld tokens',
    description:
      'Tokens that the platform enabled after the vault had governance, and that the vault has not accepted: no transfer ' +
      'of them is ordered. For administrators and auditors of the vault.',
    access: 'auditor',
    answers: { 200: WithheldTokens },
    handler: async (db, { member }) => ({ items: (await listWithheld(db, member.vault.id)).map(toWithheldToken) }),
  })

  api.post('acceptToken', '/vaults/:code/withheld-tokens/:id/accept', {
    summary: 'Accept a withheld token',
    description: 'For administrators of the vault. It waits for votes (202) while the vault has governance.',
    access: 'administrator',
    errors: ['limit_reached', 'quorum_unreachable'],
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params: { id }, ...by }) =>
      govern(trx, by, ['token_accept', id, {}], () => acceptWithheldToken(trx, id, by)),
  })
}
