import type { Readable } from 'node:stream'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply } from 'fastify'

/**
 * The reply as handlers see it. A FastifyReply is thenable: an async function that returns it has a promise of an unknown type,
 * which the compiler accepts for every answer. This type has no `then`, and states what was sent.
 */
export type Reply = {
  /** The connection, on which a handler notices that the client has left. */
  raw: Pick<FastifyReply['raw'], 'once'>
  type(mediaType: string): Reply
  header(name: string, value: string): Reply
  setCookie(name: string, value: string, options: CookieSerializeOptions): void
  clearCookie(name: string, options: CookieSerializeOptions): void
  /** Sends a file, for endpoints that document one. */
  send(bytes: Buffer | Readable): SentFile
  /** Redirects, for endpoints that document a 302. */
  redirect(path: string, status: 302): Redirected
}
export type SentFile = { readonly [sentFile]: true }
export type Redirected = { readonly [redirected]: true }
declare const sentFile: unique symbol
declare const redirected: unique symbol

/** Returns the same object with the narrower type. Its methods return the FastifyReply, which Fastify takes as sent. */
export const replyOf = (reply: FastifyReply): Reply => reply as unknown as Reply
