import type { FastifyRequest } from 'fastify'
import { authenticate, type TokenUse } from '../access/authenticate.ts'
import { type AccessLevel, isForServices, levelsOfVaults, type Member } from '../access/caller.ts'
import { authenticateDirectory } from '../access/directory.ts'
import { administratorRequired, assertMember, callerHeld, readsOnly } from '../access/refusals.ts'
import { assertScope, type Scope } from '../access/scopes.ts'
import { sqlStateOf } from '../db/transaction.ts'
import { WritesHaltedError } from '../db/write-gate.ts'
import type { Deps } from '../deps.ts'
import { type AppError, forbidden, unauthorized } from '../lib/errors.ts'

export const sessionCookie = 'session_token'

const levels: AccessLevel[] = ['public', 'caller', ...levelsOfVaults, 'platform', 'directory']
/** The last use of a session is written at most this often, so that a read rarely causes a write. */
const touchIntervalMilliseconds = 3_600_000
/** The same for the last request of a directory, whose age is watched, and for a service token that is used from another address. */
const contactIntervalMilliseconds = 60_000

/** Fails the start when a route does not declare its access level, or the scope that a service token needs for it. */
export function assertAccessDeclared(url: string, level: AccessLevel | undefined, scope: Scope | undefined): void {
  if (level === undefined || !levels.includes(level)) throw new Error(`Route ${url} does not declare its access level`)
  if (isForServices(level) && scope === undefined) throw new Error(`Route ${url} does not declare its scope`)
}

/**
 * Authenticates the caller and checks the access level of the route: 401 without a valid credential, 404 for a vault
 * that does not exist, 403 for a vault that the caller is not a member of. Runs before bodies are read or validated.
 */
export async function guard(deps: Deps, request: FastifyRequest): Promise<void> {
  const { access: level, scope } = request.routeOptions.config
  if (level === undefined || level === 'public') return
  if (level === 'directory') return guardDirectory(deps, request)
  const credential = readCredential(request)
  if (credential === null) throw unauthorized('authentication_required', 'A token or session is required')
  if (credential.via === 'cookie') assertOwnOrigin(deps, request)

  const now = deps.clock()
  const vaultCode = levelsOfVaults.includes(level) ? (request.params as { code: string }).code : null
  const found = await authenticate(deps.db, { token: credential.token, ip: request.ip }, vaultCode, now)
  if (found === null) throw invalidToken()
  request.caller = found.caller
  request.member = found.member
  if (found.session !== null) await touchSession(deps, found.session, now)
  if (found.serviceToken !== null) await touchServiceToken(deps, found.serviceToken, request.ip, now)
  if (scope !== undefined) assertScope(found.caller, scope)

  if (vaultCode !== null) {
    const member = assertMember(found)
    if (member.isHeld && request.routeOptions.config.openToHeld !== true) throw callerHeld()
    // This check comes before the level, so that an auditor gets the same refusal for every write.
    if (member.isAuditor) assertChangesNothing(request)
    const { alsoFor } = request.routeOptions.config
    if (!isOfLevel(member, level) && !(await alsoFor?.(deps.db, member, now))) throw notOfLevel(level)
  }
  if (level === 'platform' && !found.caller.isPlatformAdmin)
    throw forbidden('platform_administrator_required', 'Only platform administrators may do this')
}

/** Authenticates a directory by its token, the only credential of these endpoints. No other endpoint accepts such a token. */
async function guardDirectory(deps: Deps, request: FastifyRequest): Promise<void> {
  const credential = request.headers.authorization === undefined ? null : readCredential(request)
  if (credential === null) throw unauthorized('authentication_required', 'The token of a directory is required')
  const now = deps.clock()
  const directory = await authenticateDirectory(deps.db, credential.token, now)
  if (directory === null) throw invalidToken()
  request.directory = directory
  if (directory.lastSeenAt !== null && now.getTime() - directory.lastSeenAt.getTime() < contactIntervalMilliseconds)
    return
  await deps.db
    .updateTable('directories')
    .set({ last_seen_at: now })
    .where('id', '=', directory.id)
    .execute()
    .catch(unlessRefused)
}

/** Ignores that the database takes no changes now: the request can be answered without the new time. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof WritesHaltedError) && sqlStateOf(error) !== '25006') throw error
}

const isOfLevel = ({ isAdmin, readsAll }: Member, level: AccessLevel) =>
  level === 'administrator' ? isAdmin : level !== 'auditor' || readsAll

/** Returns the refusal of a member below the level of a route. */
export const notOfLevel = (level: AccessLevel) =>
  level === 'auditor'
    ? forbidden('administrator_required', 'Only administrators and auditors of the vault may do this')
    : administratorRequired()

/** Refuses every write of an auditor, whatever other groups they are in. Otherwise policies of `everyone` would let them act. */
function assertChangesNothing({ method, routeOptions }: FastifyRequest): void {
  const { access, openToAuditors = access === 'auditor' } = routeOptions.config
  if (!isRead({ method }) && !openToAuditors) throw readsOnly()
}

/** Returns the bearer token if there is an Authorization header, regardless of cookies; else the session cookie. */
function readCredential(request: FastifyRequest): { token: string; via: 'bearer' | 'cookie' } | null {
  const header = request.headers.authorization
  if (header !== undefined) {
    const token = /^Bearer +([^ ]+)$/i.exec(header)?.[1]
    if (token === undefined) {
      throw unauthorized('malformed_authorization', 'The Authorization header must be "Bearer <token>"')
    }
    if (!/^[A-Za-z0-9_-]{16,128}$/.test(token)) throw invalidToken()
    return { token, via: 'bearer' }
  }
  const cookie = request.cookies[sessionCookie]
  return cookie === undefined || cookie === '' ? null : { token: cookie, via: 'cookie' }
}

/** Returns the refusal of a token. A malformed token and an ended token get the same refusal. */
function invalidToken(): AppError {
  return unauthorized('invalid_token', 'The token or session is unknown, expired or revoked')
}

/** Returns true if a page of our own origin made the request, according to the headers that browsers set. */
export function isFromOwnOrigin({ publicOrigin }: Pick<Deps, 'publicOrigin'>, request: FastifyRequest): boolean {
  const { origin } = request.headers
  return origin === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : origin === publicOrigin()
}

/** Returns the media type of the body, without its parameters. */
export function mediaTypeOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase()
}

const isRead = ({ method }: Pick<FastifyRequest, 'method'>) => method === 'GET' || method === 'HEAD'

/**
 * Refuses a write of a foreign page. A browser sends the cookie with requests of any site, but only our own pages may write
 * with it.
 */
function assertOwnOrigin(deps: Deps, request: FastifyRequest): void {
  if (isRead(request)) return
  if (!isFromOwnOrigin(deps, request))
    throw forbidden('foreign_origin', 'Requests with the session cookie must come from this origin')
  const mediaType = mediaTypeOf(request)
  const mayLackBody = request.method === 'DELETE' && mediaType === undefined
  // A form of another page can send neither JSON nor these media types.
  const isUpload = mediaType !== undefined && Object.hasOwn(request.routeOptions.config.uploads ?? {}, mediaType)
  if (mediaType !== 'application/json' && !mayLackBody && !isUpload) {
    throw forbidden('json_required', 'Writes with the session cookie must be application/json')
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
    .catch(unlessRefused)
}

/** Notes the use of a service token. A new address is noted sooner, because it may be the address of a thief. */
async function touchServiceToken(
  deps: Deps,
  { vaultId, id, lastUsedAt, lastUsedFrom }: TokenUse,
  ip: string,
  now: Date,
): Promise<void> {
  const interval = ip === lastUsedFrom ? touchIntervalMilliseconds : contactIntervalMilliseconds
  if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < interval) return
  await deps.db
    .updateTable('service_tokens')
    .set({ last_used_at: now, last_used_from: ip })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
    .catch(unlessRefused)
}
