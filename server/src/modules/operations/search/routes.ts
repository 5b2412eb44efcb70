import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { searchedRowsMax, searchResultsMax } from '../../../lib/limits.ts'
import { toFoundItem } from './present.ts'
import { searchVault } from './queries.ts'
import { SearchQuery, SearchResults } from './schema.ts'

export function searchRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'History', { access: 'member', scopes: { reads: 'read' } })

  api.get('searchVault', '/vaults/:code/search', {
    summary: 'Search a vault',
    description:
      `At most ${searchResultsMax} objects of the vault that the caller may see: first by id, hash or on-chain ` +
      `address, then by name. Names are looked for in the newest ${searchedRowsMax} of each kind; the lists search further.`,
    querystring: SearchQuery,
    answers: { 200: SearchResults },
    handler: async (db, { member, query }) => {
      const found = await searchVault(db, visibleScopeOf(member), query.q.trim())
      return { items: found.map(toFoundItem) }
    },
  })
}
