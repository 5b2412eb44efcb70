import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { pngChunk, pngOf } from '../testing/images.ts'
import { readImageFile } from './image-file.ts'
import { imageBytesMax, imagePixelsMax } from './limits.ts'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Returns a complete JPEG file with a single scan, which has no data. */
function jpegOf(width: number, height: number, { frame = 0xc0, before = Buffer.alloc(0) } = {}): Buffer {
  const sof = Buffer.from([0xff, frame, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0])
  const sos = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0])
  return Buffer.concat([Buffer.from([0xff, 0xd8]), before, sof, sos, Buffer.from([0xff, 0xd9])])
}

function webpOf(...chunks: [name: string, data: Buffer][]): Buffer {
  const parts = chunks.map(([name, data]) => {
    const head = Buffer.alloc(8)
    head.write(name, 'latin1')
    head.writeUInt32LE(data.length, 4)
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
  })
  const content = Buffer.concat([Buffer.from('WEBP'), ...parts])
  const riff = Buffer.alloc(8)
  riff.write('RIFF', 'latin1')
  riff.writeUInt32LE(content.length, 4)
  return Buffer.concat([riff, content])
}

function lossy(width: number, height: number): Buffer {
  const data = Buffer.alloc(20)
  data.set([0x10, 0, 0, 0x9d, 0x01, 0x2a])
  data.writeUInt16LE(width, 6)
  data.writeUInt16LE(height, 8)
  return data
}

function lossless(width: number, height: number): Buffer {
  const data = Buffer.alloc(20)
  data[0] = 0x2f
  data.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  return data
}

function extended(width: number, height: number, flags = 0): Buffer {
  const data = Buffer.alloc(10)
  data[0] = flags
  data.writeUIntLE(width - 1, 4, 3)
  data.writeUIntLE(height - 1, 7, 3)
  return data
}

describe('readImageFile', () => {
  const jfif = Buffer.concat([Buffer.from([0xff, 0xe0, 0, 16]), Buffer.from('JFIF\0'), Buffer.alloc(9)])
  it.each<[string, Buffer, string, number, number]>([
    ['PNG', pngOf('a', 30, 20), 'image/png', 30, 20],
    ['PNG of the largest size', pngOf('a', imagePixelsMax, 1), 'image/png', imagePixelsMax, 1],
    ['JPEG', jpegOf(300, 200), 'image/jpeg', 300, 200],
    ['progressive JPEG with a segment before', jpegOf(3, 2, { frame: 0xc2, before: jfif }), 'image/jpeg', 3, 2],
    ['lossy WebP', webpOf(['VP8 ', lossy(31, 17)]), 'image/webp', 31, 17],
    ['lossless WebP', webpOf(['VP8L', lossless(256, 999)]), 'image/webp', 256, 999],
    [
      'extended WebP',
      webpOf(['VP8X', extended(9, 8)], ['ICCP', Buffer.alloc(3)], ['VP8 ', lossy(9, 8)]),
      'image/webp',
      9,
      8,
    ],
  ])('recognises an image of type %s by its bytes', (_, bytes, mediaType, width, height) => {
    expect(readImageFile(bytes)).toEqual({ mediaType, width, height })
  })

  const png = pngOf('a')
  const withChunk = (name: string, data?: Buffer) =>
    Buffer.concat([png.subarray(0, 33), pngChunk(name, data), png.subarray(33)])
  const sized = (width: number, height: number) => {
    const bytes = Buffer.from(pngOf('a'))
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return bytes
  }
  const webp = webpOf(['VP8 ', lossy(4, 4)])
  it.each<[string, Buffer, string]>([
    ['an empty file', Buffer.alloc(0), 'not an image'],
    ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'not an image'],
    ['GIF', Buffer.from('GIF89a\x01\x00\x01\x00'), 'not an image'],
    ['the first bytes of a PNG alone', signature, 'not one whole still image'],
    ['a PNG that breaks off', png.subarray(0, -1), 'not one whole still image'],
    ['a PNG with bytes after its end', Buffer.concat([png, Buffer.from('<script>')]), 'not one whole still image'],
    ['a PNG without data', Buffer.concat([png.subarray(0, 33), pngChunk('IEND')]), 'not one whole still image'],
    [
      'a PNG without a header',
      Buffer.concat([signature, pngChunk('IDAT', deflateSync('x')), pngChunk('IEND')]),
      'not one',
    ],
    ['a PNG with two headers', withChunk('IHDR', Buffer.alloc(13)), 'not one whole still image'],
    ['an animated PNG', withChunk('acTL', Buffer.alloc(8)), 'not one whole still image'],
    ['a PNG that unpacks to gigabytes', sized(60_000, 60_000), 'pixels'],
    ['a PNG without width', sized(0, 1), 'pixels'],
    ['a PNG that is one pixel too high', sized(1, imagePixelsMax + 1), 'pixels'],
    ['a JPEG that breaks off', jpegOf(4, 4).subarray(0, -2), 'not one whole still image'],
    ['a JPEG with bytes after its end', Buffer.concat([jpegOf(4, 4), Buffer.from('PK')]), 'not one whole still image'],
    ['a JPEG without a size', Buffer.from('ffd8ffda000801010000003f00ffd9', 'hex'), 'not one whole still image'],
    ['a JPEG with a segment that is too long', Buffer.from('ffd8ffe0ffffffd9', 'hex'), 'not one whole still image'],
    ['a JPEG that is too wide', jpegOf(65_535, 1), 'pixels'],
    ['a WebP that is shorter than it says', webp.subarray(0, -2), 'not one whole still image'],
    ['a WebP with bytes after its end', Buffer.concat([webp, Buffer.from('PK')]), 'not one whole still image'],
    ['an animated WebP', webpOf(['VP8X', extended(9, 8, 2)], ['VP8 ', lossy(9, 8)]), 'not one whole still image'],
    ['a WebP of two sizes', webpOf(['VP8X', extended(900, 8)], ['VP8 ', lossy(9, 8)]), 'not one whole still image'],
    [
      'a WebP without an image',
      webpOf(['VP8X', extended(9, 8)], ['EXIF', Buffer.alloc(40)]),
      'not one whole still image',
    ],
    ['a file that is too large', Buffer.concat([png, Buffer.alloc(imageBytesMax)]), `${imageBytesMax} bytes`],
  ])('refuses %s', (_, bytes, fault) => {
    expect(readImageFile(bytes)).toEqual({ fault: expect.stringContaining(fault) })
  })

  it('refuses every file that breaks off, at whatever length', () => {
    for (const whole of [png, jpegOf(4, 4), webp])
      for (let length = 0; length < whole.length; length += 1)
        expect(readImageFile(whole.subarray(0, length)), String(length)).toHaveProperty('fault')
  })
})
