import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { toDifference, toVersion, toVersionListItem } from './present.ts'
import { assertReadsRules, readersOfRules as readers, readsRules } from './readers.ts'
import { DifferenceQuery, RulesDifference, RulesVersion, RulesVersionListItem, versionParams } from './schema.ts'
import { findVersion, listVersions, positionOfVersion, readVersion } from './versions.ts'

export function rulesVersionRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Governance', { access: 'member', scopes: { reads: 'read' } })

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
    description: `Differences between a version and the version \`to\`. ${readers}`,
    params: versionParams,
    querystring: DifferenceQuery,
    answers: { 200: RulesDifference },
    handler: async (db, { member, params, query, now }) => {
      await assertReadsRules(db, member, 'Version')
      const from = orNotFound(await readVersion(db, member.vault.id, params.number, now), 'Version')
      return toDifference(from, orNotFound(await findVersion(db, member.vault.id, query.to), 'Version'))
    },
  })
}
