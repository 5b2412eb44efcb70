import type { Readable } from 'node:stream'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply } from 'fastify'

/**
 * The reply as handlers see it. A FastifyReply is thenable: an async function that returns it has a promise of nothing known, and the
 * compiler takes that for every answer. This has no `then`, and says what it sent.
 */
export type Reply = {
  /** The connection, to notice that the client has left. */
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

/** The same object: what it returns is the FastifyReply, which Fastify takes as sent. */
export const replyOf = (reply: FastifyReply): Reply => reply as unknown as Reply
