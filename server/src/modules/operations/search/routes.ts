import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { VaultParams } from '../../../http/schema.ts'
import { searchedRowsMax, searchResultsMax } from '../../../lib/limits.ts'
import { toFoundItem } from './present.ts'
import { searchVault } from './queries.ts'
import { SearchQuery, SearchResults } from './schema.ts'

export function searchRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'History')

  api.get(
    '/vaults/:code/search',
    {
      operationId: 'searchVault',
      summary: 'Search a vault',
      description:
        `At most ${searchResultsMax} things of the vault that the caller may see, to jump to: first by id, hash or on-chain ` +
        `address, then by name. Names are looked for in the newest ${searchedRowsMax} of each kind; the lists search further.`,
      access: 'member',
      params: VaultParams,
      querystring: SearchQuery,
      answers: { 200: SearchResults },
    },
    async (db, { member, query }) => {
      const found = await searchVault(db, visibleScopeOf(member), query.q.trim())
      return { items: found.map(toFoundItem) }
    },
  )
}
