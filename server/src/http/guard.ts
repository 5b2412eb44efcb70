import type { FastifyRequest } from 'fastify'
import { authenticate } from '../access/authenticate.ts'
import type { AccessLevel } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { forbidden, notFound, unauthorized } from '../lib/errors.ts'

export const sessionCookie = 'session_token'

const levels: AccessLevel[] = ['public', 'caller', 'member', 'administrator', 'platform']
/** The last use of a session is written at most this often, so that a read rarely causes a write. */
const touchIntervalMilliseconds = 3_600_000

/** Fails the start when a route does not declare its access level. */
export function assertAccessDeclared(url: string, level: AccessLevel | undefined): void {
  if (level === undefined || !levels.includes(level)) throw new Error(`Route ${url} does not declare its access level`)
}

/**
 * Authenticates the caller and checks the access level of the route: 401 without a valid credential, 404 for a vault
 * that does not exist, 403 for a vault that the caller is not a member of. Runs before bodies are read or validated.
 */
export async function guard(deps: Deps, request: FastifyRequest): Promise<void> {
  const level = request.routeOptions.config.access
  if (level === undefined || level === 'public') return
  const credential = readCredential(request)
  if (credential === null) throw unauthorized()
  if (credential.via === 'cookie') assertOwnOrigin(deps, request)

  const now = deps.clock()
  const vaultCode = level === 'member' || level === 'administrator' ? (request.params as { code: string }).code : null
  const found = await authenticate(deps.db, credential.token, vaultCode, now)
  if (found === null) throw unauthorized()
  request.caller = found.caller
  request.member = found.member
  if (found.session !== null) await touchSession(deps, found.session, now)

  if (vaultCode !== null) {
    if (!found.vaultExists) throw notFound('Vault')
    if (found.member === null) throw forbidden('You are not a member of this vault')
    if (level === 'administrator' && !found.member.isAdmin)
      throw forbidden('Only administrators of the vault may do this')
  }
  if (level === 'platform' && !found.caller.isPlatformAdmin) throw forbidden('Only platform administrators may do this')
}

/** The bearer token if there is an Authorization header, regardless of cookies; else the session cookie. */
export function readCredential(request: FastifyRequest): { token: string; via: 'bearer' | 'cookie' } | null {
  const header = request.headers.authorization
  if (header !== undefined) {
    const match = /^Bearer ([A-Za-z0-9_-]{16,128})$/i.exec(header)
    if (match === null) throw unauthorized('The Authorization header must be "Bearer <token>"')
    return { token: match[1]!, via: 'bearer' }
  }
  const cookie = request.cookies[sessionCookie]
  return cookie === undefined || cookie === '' ? null : { token: cookie, via: 'cookie' }
}

/** Whether a page of our own origin made the request, according to the headers that browsers set. */
export function isFromOwnOrigin({ publicOrigin }: Pick<Deps, 'publicOrigin'>, request: FastifyRequest): boolean {
  const { origin } = request.headers
  return origin === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : origin === publicOrigin()
}

/** A browser sends the cookie with requests of any site; only our own pages may write with it. */
function assertOwnOrigin(deps: Deps, request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (!isFromOwnOrigin(deps, request)) throw forbidden('Requests with the session cookie must come from this origin')
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const mayLackBody = request.method === 'DELETE' && mediaType === undefined
  if (mediaType !== 'application/json' && !mayLackBody) {
    throw forbidden('Writes with the session cookie must be application/json')
  }
}

async function touchSession(
  deps: Deps,
  session: { id: string; lastSeenAt: Date; endsAt: Date },
  now: Date,
): Promise<void> {
  if (now.getTime() - session.lastSeenAt.getTime() < touchIntervalMilliseconds) return
  const slid = now.getTime() + deps.config.sessionTtlDays * 86_400_000
  const expiresAt = new Date(Math.min(slid, session.endsAt.getTime()))
  await deps.db
    .updateTable('sessions')
    .set({ last_seen_at: now, expires_at: expiresAt })
    .where('id', '=', session.id)
    .execute()
}
