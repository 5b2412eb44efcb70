import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type pg from 'pg'
import Type from 'typebox'
import { rejectPending } from '../authority/cancellation.ts'
import { MalformedError, parseAuthority } from '../authority/parse.ts'
import { type Shown, showProtection } from '../authority/protection.ts'
import { stopOrders } from '../authority/stops.ts'
import { type AuthorityStore, AuthorityUnavailableError } from '../authority/store.ts'
import { notFound, WalletError } from '../errors.ts'
import { paths, type SigningPage } from './page.ts'

type Parts = { pool: pg.Pool; authorities: AuthorityStore | null; page: SigningPage }

const VaultId = Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })
const Question = Type.Object(
  {
    vaultId: VaultId,
    hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the version in force, as who asks knows it.' }),
    next: Type.Optional(Type.Object({}, { description: 'A document that is to follow it.' })),
  },
  { additionalProperties: false },
)
const Brought = Type.Object(
  { vaultId: VaultId, vote: Type.Unknown({ description: 'A signed vote `reject` or `cancel`.' }) },
  { additionalProperties: false },
)
/** A signed vote with the longest signature, key id and client data that are read. */
const voteBytesMax = 16 * 1024

/**
 * The page for signatures, what it asks, and what it brings. Nothing of it needs a token: browsers of people come here. An
 * authority is shown to those who know the id of its vault and its hash, as its members do. A signature that stops something
 * counts from any sender, so that it does not depend on the service.
 */
export function signingRoutes(app: FastifyInstance, { pool, authorities, page }: Parts): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  routes.get('/sign', (_request, reply) => reply.headers(page.headers).type('text/html; charset=utf-8').send(page.html))

  const findVault = vaultFinder(pool, authorities)
  const onRequest = async ({ headers }: FastifyRequest) => {
    if (headers.origin !== page.origin) throw new WalletError(403, 'Only the page for signatures asks this')
  }
  routes.post(paths.authority, { schema: { body: Question }, onRequest }, async ({ body }, reply) => {
    const { vaultId, hash, next } = body
    const { present } = await findVault(vaultId)
    if (present.hash !== hash) throw new WalletError(409, 'Another version is in force')
    if (next !== undefined) assertReadable(next)
    reply.header('cache-control', 'no-store')
    return { authority: present.authority, pending: present.pending }
  })

  const brought = { schema: { body: Brought }, onRequest, bodyLimit: voteBytesMax }
  routes.post(paths.stop, brought, async ({ body: { vaultId, vote } }) => {
    const { clientId } = await findVault(vaultId)
    return await stopOrders(pool, authorities, clientId, [vote])
  })
  routes.post(paths.cancel, brought, async ({ body: { vaultId, vote } }) => {
    const { clientId } = await findVault(vaultId)
    return await rejectPending(pool, authorities, clientId, vote)
  })
}

function assertReadable(next: object): void {
  try {
    parseAuthority(next)
  } catch (error) {
    if (error instanceof MalformedError) throw new WalletError(400, 'The next authority cannot be read', error.message)
    throw error
  }
}

/** Somebody who asks for vaults that do not exist makes the files be looked through no more often than this. */
const searchMilliseconds = 1_000

/**
 * Finds the authority in force that names a vault. Two clients that name the same vault are answered as none, with a 404. While
 * an authority cannot be read, a vault that is not found may be its vault: the answer is a 503.
 */
function vaultFinder(pool: pg.Pool, authorities: AuthorityStore | null) {
  let clientOf = new Map<string, string | null>()
  let unreadable: AuthorityUnavailableError | null = null
  let searchedAt = Number.NEGATIVE_INFINITY

  const search = async (): Promise<void> => {
    searchedAt = performance.now()
    const found = new Map<string, string | null>()
    let failure: AuthorityUnavailableError | null = null
    const { rows } = await pool.query<{ id: string }>('select id from wallet.clients')
    for (const { id } of rows) {
      try {
        const vaultId = (await showProtection(pool, authorities, id))?.authority.vaultId
        if (vaultId !== undefined) found.set(vaultId, found.has(vaultId) ? null : id)
      } catch (error) {
        if (!(error instanceof AuthorityUnavailableError)) throw error
        failure = error
      }
    }
    clientOf = found
    unreadable = failure
  }

  return async (vaultId: string): Promise<{ clientId: string; present: Shown }> => {
    if (!clientOf.has(vaultId) && performance.now() - searchedAt > searchMilliseconds) await search()
    const clientId = clientOf.get(vaultId) ?? null
    if (clientId === null) throw unreadable ?? notFound('Authority')
    const present = await showProtection(pool, authorities, clientId)
    if (present?.authority.vaultId !== vaultId) throw notFound('Authority')
    return { clientId, present }
  }
}
