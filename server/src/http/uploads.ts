import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, badRequest } from '../lib/errors.ts'
import { imageTypes } from '../lib/image-file.ts'
import { mediaTypeOf } from './guard.ts'
import type { BodyReader } from './read-body.ts'
import type { Uploads } from './route.ts'

/** The media types that some routes accept besides JSON, or instead of it. All other routes refuse them. */
const uploaded = [...imageTypes, 'text/csv']

export function registerUploads(app: FastifyInstance, readBody: BodyReader): void {
  app.addContentTypeParser(uploaded, async (request: FastifyRequest, payload: IncomingMessage) => {
    const uploads = (request.routeOptions.config.uploads ?? {}) as Uploads
    const mediaType = mediaTypeOf(request) ?? ''
    if (!Object.hasOwn(uploads, mediaType)) throw wrongTypeFor(request)
    return uploads[mediaType]!.read(await readBody(request, payload), request)
  })
}

/** @throws 415 for another character set than UTF-8, 400 for a body that is not valid UTF-8 */
export function textOf({ headers }: Pick<FastifyRequest, 'headers'>, body: Buffer): string {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    throw new AppError('unsupported_media_type', 'The charset must be utf-8')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    if (error instanceof TypeError) throw badRequest('body', 'is not valid UTF-8', 'malformed_body')
    throw error
  }
}

/** Returns a 415 that names the media types of the route. */
export function wrongTypeFor({ routeOptions }: FastifyRequest): AppError {
  const { config, schema } = routeOptions
  const taken = Object.keys(config?.uploads ?? {})
  const names = schema?.body !== undefined || taken.length === 0 ? ['application/json', ...taken] : taken
  const last = names.at(-1)!
  const list = names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
  return new AppError('unsupported_media_type', `The content type must be ${list}`)
}
