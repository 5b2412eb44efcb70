import { Type } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { imageTypes } from '../../../lib/image-file.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { findImage } from './queries.ts'

/** The policy for a browser that misreads an image: it must not run, load or send anything. */
const imagePolicy = "default-src 'none'; sandbox"

const imageParams = {
  key: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 (hex) of what the image is of and of its bytes, as its address ends with it.',
    examples: ['b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'],
  }),
}

export function imageRoutes(app: App, deps: Deps): void {
  endpoints(app, deps, 'Images', { access: 'caller' }).get('getImage', '/images/:key', {
    summary: 'Get an image',
    description:
      'An image that the service keeps, at the path that the resource returns in `image`, `logoUri` or `avatarUri`. A ' +
      'path has one content for good, so that browsers keep it. Of people, tokens and networks for everybody who is ' +
      'signed in, all others for the members of their vault; 404 for others, and for an image that was replaced a ' +
      'while ago.',
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
