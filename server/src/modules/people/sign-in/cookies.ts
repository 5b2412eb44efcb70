import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../../deps.ts'
import { sessionCookie } from '../../../http/guard.ts'
import type { Reply } from '../../../http/reply.ts'
import { deviceCookieDays, magicLinkTtlMinutes, passkeyChallengeMinutes } from '../../../lib/limits.ts'
import type { Device } from './devices.ts'
import type { OpenedSession } from './sessions.ts'

/** Binds a sign-in link to the browser that requested it; sent to the sign-in routes only. */
export const bindingCookie = 'magic_link_binding'

/** Binds the answer of a passkey to the browser that asked for it, so that no other site can sign it in to another account. */
export const passkeyCookie = 'passkey_binding'

/** Identifies a known browser beyond the end of a session. A sign-in from an unknown browser is reported by mail. */
export const deviceCookie = 'device'

const deviceCookieOptions = (publicOrigin: string) => cookieOptions(publicOrigin, '/', deviceCookieDays * 86_400)

export const bindingCookieOptions = (publicOrigin: string) =>
  cookieOptions(publicOrigin, '/api/v1/auth', magicLinkTtlMinutes * 60)

export const passkeyCookieOptions = (publicOrigin: string) =>
  cookieOptions(publicOrigin, '/api/v1/auth', passkeyChallengeMinutes * 60)

/**
 * Returns the options of the session cookie. The server decides how long a session lives; the cookie is kept until its
 * latest possible end.
 */
export const sessionCookieOptions = (publicOrigin: string, expires?: Date): CookieSerializeOptions => ({
  ...cookieOptions(publicOrigin, '/'),
  expires,
})

/**
 * Returns the options of a cookie. Browsers drop a Secure cookie over plain HTTP, which is possible only with
 * ALLOW_INSECURE or on the local machine.
 */
function cookieOptions(publicOrigin: string, path: string, maxAge?: number): CookieSerializeOptions {
  return { httpOnly: true, sameSite: 'lax', secure: new URL(publicOrigin).protocol === 'https:', path, maxAge }
}

/** Returns the device and address of a request to sign in. */
export function deviceOf(request: FastifyRequest, kind: Device['kind']): Device {
  const cookie = request.cookies[deviceCookie]
  return { kind, userAgent: request.headers['user-agent'] ?? null, ip: request.ip, cookie: cookie ?? null }
}

/** Sets the cookies of the session and of the device. */
export function setSession(
  { publicOrigin }: Pick<Deps, 'publicOrigin'>,
  reply: Pick<Reply, 'setCookie' | 'clearCookie'>,
  session: OpenedSession,
): void {
  const origin = publicOrigin()
  reply.setCookie(sessionCookie, session.token, sessionCookieOptions(origin, session.endsAt))
  if (session.deviceCookie !== null) reply.setCookie(deviceCookie, session.deviceCookie, deviceCookieOptions(origin))
  reply.clearCookie(bindingCookie, bindingCookieOptions(origin))
}
