import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

/** Returns a PNG image of one colour, which depends on the seed. Browsers can draw it. */
export function pngOf(seed: string, width = 8, height = 8): Buffer {
  const colour = createHash('sha256').update(seed).digest().subarray(0, 3)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8)
  const line = Buffer.concat([Buffer.from([0]), ...Array.from({ length: width }, () => colour)])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, pngChunk('IHDR', header), pngChunk('IDAT', pixels), pngChunk('IEND')])
}

export function pngChunk(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const chunk = Buffer.alloc(named.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  chunk.set(named, 4)
  chunk.writeUInt32BE(crc32(named), named.length + 4)
  return chunk
}

export const asPng = { 'content-type': 'image/png' }
