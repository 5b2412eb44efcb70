import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import { compressedBytesMin } from '../lib/limits.ts'
import type { App } from './endpoints.ts'

/** JSON, and the files of the pages. Other files are already compressed or have limits that count their bytes. */
const compressible = new Set(['application/json', 'text/css', 'text/javascript', 'image/svg+xml'])

/**
 * Compresses answers for clients that accept it, except to requests that another site may have made with the session of its
 * visitor: their length would reveal their content (decision 0030). Request bodies are never decompressed.
 */
export async function registerCompression(app: App): Promise<void> {
  // This hook runs before the hook of the library, whose own option can only add types.
  app.addHook('onSend', async (request, reply, payload) => {
    const site = request.headers['sec-fetch-site']
    const type = String(reply.getHeader('content-type') ?? '').split(';')[0]!
    const isFromElsewhere = site === 'cross-site' || site === 'same-site'
    if (isFromElsewhere || !compressible.has(type)) delete request.headers['accept-encoding']
    return payload
  })
  await app.register(compress, {
    globalDecompression: false,
    threshold: compressedBytesMin,
    encodings: ['br', 'gzip'],
    // The default quality of Brotli, 11, takes many times as long.
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  })
}
