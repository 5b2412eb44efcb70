import type { CookieSerializeOptions } from '@fastify/cookie'
import { deviceCookieDays, magicLinkTtlMinutes } from '../../lib/limits.ts'

/** Binds a sign-in link to the browser that asked for it; sent to the sign-in routes only. */
export const bindingCookie = 'magic_link_binding'

/** Stays when the session ends: by it a browser is known again, and a sign-in from an unknown one is mailed. */
export const deviceCookie = 'device'

export function deviceCookieOptions(publicOrigin: string): CookieSerializeOptions {
  return { ...cookieOptions(publicOrigin), path: '/', maxAge: deviceCookieDays * 86_400 }
}

export function bindingCookieOptions(publicOrigin: string): CookieSerializeOptions {
  return { ...cookieOptions(publicOrigin), path: '/api/v1/auth', maxAge: magicLinkTtlMinutes * 60 }
}

/** The server decides how long a session lives; the cookie is kept until its latest possible end. */
export function sessionCookieOptions(publicOrigin: string, endsAt?: Date): CookieSerializeOptions {
  return { ...cookieOptions(publicOrigin), path: '/', ...(endsAt === undefined ? {} : { expires: endsAt }) }
}

function cookieOptions(publicOrigin: string): CookieSerializeOptions {
  return { httpOnly: true, sameSite: 'lax', secure: !isPlainLocalhost(publicOrigin) }
}

/** Browsers keep Secure cookies from HTTPS only; over plain HTTP the service is for the own machine. */
function isPlainLocalhost(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
