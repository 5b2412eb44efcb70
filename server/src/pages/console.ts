import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import type { App } from '../http/endpoints.ts'
import { sessionCookie } from '../http/guard.ts'
import { createPreloads, type Preloads } from './console-preloads.ts'
import { pageOptions } from './layout.ts'
import { referencePath } from './reference.ts'

/** The paths that the console draws in the browser. */
const drawnInBrowser = ['/v/*', '/me', '/me/*', '/platform', '/platform/*']

/**
 * The paths that need no session: the check of files, so that anyone can verify evidence without an account, and the reference
 * of the API.
 */
const drawnForAnybody = ['/verify', referencePath, `${referencePath}/*`]

/**
 * The content policy of the console. Every file comes from this origin, and text never becomes code: the console makes no HTML
 * from strings, and only its own worker has a trusted URL (the policy "strongroom").
 */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types strongroom',
].join('; ')

declare module 'fastify' {
  interface FastifyInstance {
    preloadsOf: Preloads
  }
}

const files = { ...pageOptions, config: { ...pageOptions.config, rateLimit: false as const } }

/** Returns the folder of the built console; null when it was not built or this node serves only the API. */
export function consoleFolder({ config }: Deps): string | null {
  if (!config.servesConsole) return null
  const folder = join(dirname(createRequire(import.meta.url).resolve('@strongroom/console/package.json')), 'dist')
  return existsSync(join(folder, 'index.html')) ? folder : null
}

/** Serves the console: one HTML page for all of its paths, and files whose names change with their content. */
export async function registerConsole(app: App, folder: string): Promise<void> {
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true })
  app.decorate('preloadsOf', createPreloads(folder))
  for (const path of drawnInBrowser) app.get(path, files, sendToSignInOrConsole)
  for (const path of drawnForAnybody) {
    app.get(path, files, async (request, reply) => {
      if (path !== '/verify' && hasCookie(request)) return sendConsole(request, reply)
      // The page needs no session, but its preloads do. A browser without a session would report their refusal as an error.
      const page = await readFile(join(folder, 'index.html'), 'utf8')
      await addHeaders(request, reply)
      return reply.type('text/html; charset=utf-8').send(page.replace(/<link rel="preload"[^>]*>/, ''))
    })
  }
  app.get('/manifest.webmanifest', files, (_request, reply) => reply.sendFile('manifest.webmanifest'))
  app.get('/console/*', files, (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    return reply.sendFile(join('console', name), { cacheControl: false })
  })
}

export async function sendConsole(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  await addHeaders(request, reply)
  return reply.sendFile('index.html', { cacheControl: false })
}

async function addHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const links = await request.server.preloadsOf(request.url)
  if (links !== '') reply.header('link', links)
  reply
    .header('content-security-policy', consolePolicy)
    // The page of a wallet service returns the signed data from the window that the console opened for it. No other page
    // keeps a reference to a window of the console.
    .header('cross-origin-opener-policy', 'same-origin-allow-popups')
    .header('cache-control', 'no-cache')
}

function hasCookie(request: FastifyRequest): boolean {
  return (request.cookies[sessionCookie] ?? '') !== ''
}

/** Redirects to the sign-in when there is no cookie. The first call of the console notices a session that has ended. */
async function sendToSignInOrConsole(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (hasCookie(request)) return sendConsole(request, reply)
  return reply.redirect(`/sign-in?redirectTo=${encodeURIComponent(request.url)}`, 302)
}
