import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../../deps.ts'
import { sessionCookie } from '../../../http/guard.ts'
import {
  bindingCookie,
  bindingCookieOptions,
  deviceCookie,
  deviceCookieOptions,
  sessionCookieOptions,
} from './cookies.ts'
import type { Device } from './devices.ts'
import type { OpenedSession } from './sessions.ts'

/** The device and address that a request to sign in comes from. */
export function deviceOf(request: FastifyRequest, kind: Device['kind']): Device {
  const cookie = request.cookies[deviceCookie]
  return { kind, userAgent: request.headers['user-agent'] ?? null, ip: request.ip, cookie: cookie ?? null }
}

/** Sets the cookies of the session and of the device. */
export function setSession(
  { publicOrigin }: Pick<Deps, 'publicOrigin'>,
  reply: FastifyReply,
  session: OpenedSession,
): void {
  const origin = publicOrigin()
  reply.setCookie(sessionCookie, session.token, sessionCookieOptions(origin, session.endsAt))
  if (session.deviceCookie !== null) reply.setCookie(deviceCookie, session.deviceCookie, deviceCookieOptions(origin))
  reply.clearCookie(bindingCookie, bindingCookieOptions(origin))
}
