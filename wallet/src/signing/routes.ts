import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type pg from 'pg'
import Type from 'typebox'
import { rejectPending } from '../authority/cancellation.ts'
import { MalformedError, parseAuthority } from '../authority/parse.ts'
import { showProtection } from '../authority/protection.ts'
import { stopOrders } from '../authority/stops.ts'
import { type AuthorityStore, AuthorityUnavailableError, type Shown } from '../authority/store.ts'
import { notFound, WalletError } from '../errors.ts'
import { authorityBytesMax } from '../limits.ts'
import { paths, type SigningPage } from './page.ts'

type Parts = { pool: pg.Pool; authorities: AuthorityStore | null; page: SigningPage }

const VaultId = Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })
const AuthorityQuery = Type.Object(
  {
    vaultId: VaultId,
    hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of the version in force, known to the caller.' }),
    next: Type.Optional(Type.Object({}, { description: 'The document of the next version, to check its form.' })),
  },
  { additionalProperties: false },
)
const VoteBody = Type.Object(
  { vaultId: VaultId, vote: Type.Unknown({ description: 'A signed vote `reject` or `cancel`.' }) },
  { additionalProperties: false },
)
/** Fits a signed vote with the longest permitted signature, key id and client data. */
const voteBytesMax = 16 * 1024

/**
 * Adds the routes of the page for signatures. They need no token, because browsers of people call them. A caller who knows the id of a
 * vault and the hash of its authority, as its members do, may read the authority. A signature that stops something counts from any
 * sender, so that it does not depend on the service.
 */
export function signingRoutes(app: FastifyInstance, { pool, authorities, page }: Parts): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  routes.get('/sign', (_request, reply) => reply.headers(page.headers).type('text/html; charset=utf-8').send(page.html))

  const findVault = vaultFinder(pool, authorities)
  const onRequest = async ({ headers }: FastifyRequest) => {
    if (headers.origin !== page.origin) throw new WalletError(403, 'Only the page for signatures asks this')
  }
  const ofAuthority = { schema: { body: AuthorityQuery }, onRequest, bodyLimit: authorityBytesMax + voteBytesMax }
  routes.post(paths.authority, ofAuthority, async ({ body }, reply) => {
    const { vaultId, hash, next } = body
    const { present } = await findVault(vaultId)
    if (present.hash !== hash) throw new WalletError(409, 'Another version is in force')
    if (next !== undefined) assertReadable(next)
    reply.header('cache-control', 'no-store')
    return { authority: present.authority, pending: present.pending }
  })

  const ofVote = { schema: { body: VoteBody }, onRequest, bodyLimit: voteBytesMax }
  routes.post(paths.stop, ofVote, async ({ body: { vaultId, vote } }) => {
    const { clientId } = await findVault(vaultId)
    return await stopOrders(pool, authorities, clientId, [vote])
  })
  routes.post(paths.cancel, ofVote, async ({ body: { vaultId, vote } }) => {
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

/** The shortest time between two searches through all authorities, so that requests for unknown vaults stay cheap. */
const searchMilliseconds = 1_000

/**
 * Returns a function that finds the authority in force that names a vault. If two clients name the same vault, the answer is a 404,
 * as if no client named it. While an authority cannot be read, a vault that is not found may be its vault: the answer is a 503.
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
