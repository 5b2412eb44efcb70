import { Type } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { imageTypes } from '../../../lib/image-file.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { findImage } from './queries.ts'

/** The content security policy of an image: a browser that misreads it must not run, load or send anything. */
const imagePolicy = "default-src 'none'; sandbox"

const imageParams = {
  key: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 (hex) over the object and the bytes of the image; the last part of its address.',
    examples: ['b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'],
  }),
}

export function imageRoutes(app: App, deps: Deps): void {
  endpoints(app, deps, 'Images', { access: 'caller', scopes: { reads: 'read' } }).get('getImage', '/images/:key', {
    summary: 'Get an image',
    description:
      'An image that the service stores, at the path that the resource returns in `image`, `logoUri` or `avatarUri`. The ' +
      'content of a path never changes, so browsers may keep it. Images of people, tokens and networks are for everybody ' +
      'who is signed in, all others for the members of their vault; 404 for everybody else, and for an image that was ' +
      'replaced some time ago.',
    params: imageParams,
    errors: [404],
    answers: {},
    files: imageTypes,
    handler: async (db, { params, caller }, { reply }) => {
      const { media_type, content } = orNotFound(await findImage(db, params.key, caller.userId), 'Image')
      return reply
        .type(media_type)
        .header('content-disposition', 'inline')
        .header('content-security-policy', imagePolicy)
        .header('cache-control', 'private, max-age=31536000, immutable')
        .send(content)
    },
  })
}
