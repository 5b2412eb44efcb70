import type {} from 'fastify'
import type { Db } from '../db/client.ts'
import { unauthorized } from '../lib/errors.ts'
import type { DirectoryCaller } from './directory.ts'
import { notAMember } from './refusals.ts'
import type { Scope } from './scopes.ts'

/** The user or service that sends the request, identified by its session or service token. */
export type Caller = {
  userId: string
  kind: 'person' | 'service'
  email: string | null
  isPlatformAdmin: boolean
  sessionId: string | null
  expiresAt: Date | null
  /** The scopes of the service token; null for a session, which has no scopes. */
  scopes: readonly Scope[] | null
}

/** With `votes`, orders and votes in this vault must be signed before a transfer is handed over (docs/signed-orders.md). */
export const protections = ['off', 'votes'] as const
export type Protection = (typeof protections)[number]

/** A caller within a vault they are a member of. */
export type Member = Caller & {
  vault: { id: string; code: string; name: string; lockedAt: Date | null; protection: Protection }
  /** The groups of the vault that the caller is in, including the built-in group `everyone`. */
  groupIds: string[]
  isAdmin: boolean
  /**
   * True for a member of the group of the auditors who is not an administrator: they read the whole vault and change nothing in
   * it.
   */
  isAuditor: boolean
  /** True for an administrator or an auditor, who read the whole vault. */
  readsAll: boolean
  /** True if a hold stops the caller in this vault. The caller can then only read who placed the hold. */
  isHeld: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    member: Member | null
    directory: DirectoryCaller | null
  }
  interface FastifyContextConfig {
    access?: AccessLevel
    /** The scope that a service token needs; absent for endpoints that services cannot call. */
    scope?: Scope | undefined
    /** The media types that the body may have besides JSON (`http/endpoints.ts`). */
    uploads?: Readonly<Record<string, object>>
    openToAuditors?: boolean
    /** Returns true if a member below the level of the route may call it, too. The handler then checks the objects of the request. */
    alsoFor?: (db: Db, member: Member, now: Date) => Promise<boolean>
    openToHeld?: boolean
  }
}

/**
 * The callers of a route, enforced before its input is validated: anyone · any signed-in caller · a member of the vault in the
 * path · an administrator or auditor of it · an administrator of it · a platform administrator · the directory of a company, which
 * is not a user.
 */
export type AccessLevel = 'public' | 'caller' | 'member' | 'auditor' | 'administrator' | 'platform' | 'directory'

/** The levels of routes with a vault in their path. */
export const levelsOfVaults: readonly AccessLevel[] = ['member', 'auditor', 'administrator']

/** The levels of routes that a service can call, so that they need a scope. A service is never a platform administrator. */
const serviceLevels = ['caller', 'member', 'auditor', 'administrator'] as const satisfies AccessLevel[]
export type ServiceLevel = (typeof serviceLevels)[number]

export const isForServices = (level: AccessLevel): boolean => serviceLevels.some((known) => known === level)

type WithCaller = { caller: Caller | null; member: Member | null }

export function callerOf(request: WithCaller): Caller {
  if (request.caller === null) throw unauthorized('authentication_required', 'A valid token or session is required')
  return request.caller
}

/** Returns the caller as a member of the vault in the path. Only for routes of `levelsOfVaults`. */
export function memberOf(request: WithCaller): Member {
  if (request.member === null) throw notAMember()
  return request.member
}

/** The actor of a change, with the vault and the time. */
export type By = { vaultId: string; actorId: string; now: Date }

/** The member and the time, which an endpoint of a vault passes to its action. */
export type ByMember = { member: Member; now: Date }

/**
 * The caller and the time of an endpoint without a vault in its path. The endpoint concerns the platform, or a vault that the
 * action finds by the object of the request.
 */
export type ByCaller = { caller: Caller; now: Date }

/** Returns the initiator as the actor of a request that is carried out later, after its votes. */
export const byInitiator = (context: { vaultId: string; initiatorId: string; now: Date }): By => ({
  vaultId: context.vaultId,
  actorId: context.initiatorId,
  now: context.now,
})

export const byMember = ({ member, now }: ByMember): By => ({
  vaultId: member.vault.id,
  actorId: member.userId,
  now,
})

/** Returns the author of audit records of events that belong to no vault. */
export const byPlatform = ({ caller, now }: ByCaller) => ({ vaultId: null, actorId: caller.userId, now })
