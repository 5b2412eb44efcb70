import type {} from 'fastify'
import { forbidden, unauthorized } from '../lib/errors.ts'

/** Who is asking, established by the session or service token of the request. */
export type Caller = {
  userId: string
  kind: 'person' | 'service'
  email: string | null
  isPlatformAdmin: boolean
  sessionId: string | null
  expiresAt: Date | null
}

/** A caller within a vault they are a member of. */
export type Member = Caller & {
  vault: { id: string; code: string; name: string; lockedAt: Date | null }
  /** Groups of the vault that the caller is in; the built-in group `everyone` included. */
  groupIds: string[]
  isAdmin: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    member: Member | null
  }
  interface FastifyContextConfig {
    access?: AccessLevel
  }
}

/**
 * Who may call a route, enforced before its input is validated:
 * anyone · any signed-in caller · a member of the vault in the path · an administrator of it · a platform administrator.
 */
export type AccessLevel = 'public' | 'caller' | 'member' | 'administrator' | 'platform'

type WithCaller = { caller: Caller | null; member: Member | null }

export function callerOf(request: WithCaller): Caller {
  if (request.caller === null) throw unauthorized()
  return request.caller
}

/** The caller as a member of the vault in the path; only in routes of level member or administrator. */
export function memberOf(request: WithCaller): Member {
  if (request.member === null) throw forbidden('You are not a member of this vault')
  return request.member
}

/** Who changes something, in which vault and when. */
export type By = { vaultId: string; actorId: string; now: Date }

/** The same of a member: what an endpoint of a vault hands to its action. */
export type ByMember = { member: Member; now: Date }

/** The same of a caller whom no vault is asked of: of what belongs to the platform, or to a vault that the action finds. */
export type ByCaller = { caller: Caller; now: Date }

/** The initiator of what is done later, when the votes that it waited for are there. */
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

/** For the audit records of what belongs to no vault. */
export const byPlatform = ({ caller, now }: ByCaller) => ({ vaultId: null, actorId: caller.userId, now })
