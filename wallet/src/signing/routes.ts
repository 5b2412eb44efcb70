import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { Order } from '../authority/documents.ts'
import { readProtection } from '../authority/protection.ts'
import { type AuthorityStore, AuthorityUnavailableError, type Present } from '../authority/store.ts'
import type { Chain } from '../chains/open-chain.ts'
import { notFound } from '../errors.ts'
import { describeOrder } from './describe-order.ts'
import { describePath, type SigningPage } from './page.ts'

type Parts = { pool: pg.Pool; authorities: AuthorityStore | null; chains: Map<string, Chain>; page: SigningPage }

/**
 * The page for signatures and what it asks. Both need no token: browsers of people come here. Of an authority only what
 * concerns one order of one vault is said, and only to browsers that know the id of the vault, as its members do.
 */
export function signingRoutes(app: FastifyInstance, { pool, authorities, chains, page }: Parts): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  routes.get('/sign', (_request, reply) => reply.headers(page.headers).type('text/html; charset=utf-8').send(page.html))

  const findVault = vaultFinder(pool, authorities)
  routes.post(describePath, { schema: { body: Order } }, async ({ body }, reply) => {
    const present = await findVault(body.vaultId)
    if (present === null) throw notFound('Authority')
    reply.header('cache-control', 'no-store')
    return await describeOrder(body, present, chains.get(body.network))
  })
}

/** Somebody who asks for vaults that do not exist makes the files be looked through no more often than this. */
const searchMilliseconds = 1_000

/** Finds the authority in force that names a vault. Two clients that name the same one are answered as none. */
function vaultFinder(pool: pg.Pool, authorities: AuthorityStore | null) {
  let clientOf = new Map<string, string | null>()
  let searchedAt = Number.NEGATIVE_INFINITY

  const search = async (): Promise<void> => {
    searchedAt = performance.now()
    const found = new Map<string, string | null>()
    const { rows } = await pool.query<{ id: string }>('select id from wallet.clients')
    for (const { id } of rows) {
      const vaultId = (await read(id))?.authority.vaultId
      if (vaultId !== undefined) found.set(vaultId, found.has(vaultId) ? null : id)
    }
    clientOf = found
  }

  const read = async (clientId: string): Promise<Present | null> => {
    try {
      return await readProtection(pool, authorities, clientId)
    } catch (error) {
      if (error instanceof AuthorityUnavailableError) return null
      throw error
    }
  }

  return async (vaultId: string): Promise<Present | null> => {
    if (!clientOf.has(vaultId) && performance.now() - searchedAt > searchMilliseconds) await search()
    const clientId = clientOf.get(vaultId) ?? null
    const present = clientId === null ? null : await read(clientId)
    return present?.authority.vaultId === vaultId ? present : null
  }
}
