import { imageBytesMax, imagePixelsMax } from './limits.ts'

/** The media types of images that are kept. SVG is refused, because such a document may hold scripts and load other files. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
type ImageType = (typeof imageTypes)[number]

const folder = '/api/v1/images/'
/** Returns the address of an image that the service keeps, by the key of its row. */
export const uriOfImage = (key: string) => folder + key
export const keptImagePattern = `${folder}[0-9a-f]{64}`

type ImageFile = { mediaType: ImageType; width: number; height: number }
type Size = { width: number; height: number }

/**
 * Reads the type and size of an image from its own bytes, because a sender may name any type. The file is followed from its
 * first byte to its last, so that nothing else hides behind an image. Returns a fault in words for anything but one still image
 * of a permitted size.
 */
export function readImageFile(bytes: Buffer): ImageFile | { fault: string } {
  if (bytes.length > imageBytesMax) return { fault: `must not be larger than ${imageBytesMax} bytes` }
  const found = formats.find(({ begins }) => begins(bytes))
  if (found === undefined) return { fault: 'is not an image of type PNG, JPEG or WebP' }
  const size = found.sizeOf(bytes)
  if (size === null) return { fault: `is not one whole still image of the type ${found.mediaType}` }
  const { width, height } = size
  if (width < 1 || height < 1 || width > imagePixelsMax || height > imagePixelsMax)
    return { fault: `must be 1 to ${imagePixelsMax} pixels wide and high` }
  return { mediaType: found.mediaType, width, height }
}

type Format = { mediaType: ImageType; begins(bytes: Buffer): boolean; sizeOf(bytes: Buffer): Size | null }

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

const formats: Format[] = [
  { mediaType: 'image/png', begins: (bytes) => bytes.subarray(0, 8).equals(pngSignature), sizeOf: sizeOfPng },
  { mediaType: 'image/jpeg', begins: (bytes) => bytes.subarray(0, 3).toString('hex') === 'ffd8ff', sizeOf: sizeOfJpeg },
  {
    mediaType: 'image/webp',
    begins: (bytes) => textAt(bytes, 0) === 'RIFF' && textAt(bytes, 8) === 'WEBP',
    sizeOf: sizeOfWebp,
  },
]

const textAt = (bytes: Buffer, offset: number) => bytes.toString('latin1', offset, offset + 4)

/** Reads the size of a PNG file: chunks of length, name, data and checksum, IHDR first, IEND last, and no animation. */
function sizeOfPng(bytes: Buffer): Size | null {
  let size: Size | null = null
  let hasData = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const name = textAt(bytes, at + 4)
    const end = at + 12 + length
    if (end > bytes.length) return null
    if ((name === 'IHDR') !== (at === 8)) return null
    if (name === 'IHDR') {
      if (length !== 13) return null
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) }
    }
    if (name === 'acTL') return null
    if (name === 'IDAT') hasData = true
    if (name === 'IEND') return end === bytes.length && hasData ? size : null
    at = end
  }
  return null
}

/** Returns true for a frame of a JPEG file that holds its size. DHT (c4), JPG (c8) and DAC (cc) lie between such frames. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Reads the size of a JPEG file from its segments up to the first scan. The file must end with the end marker. */
function sizeOfJpeg(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt16BE(bytes.length - 2) !== 0xffd9) return null
  let size: Size | null = null
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff || marker < 0xc0) return null
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2 || at + 2 + length > bytes.length) return null
    if (isFrame(marker)) {
      if (size !== null || length < 8) return null
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    }
    if (marker === 0xda) return size
    at += 2 + length
  }
  return null
}

/**
 * Reads the size of a WebP file: a RIFF file of the stated length, with chunks of name, length and data. The extended form must
 * not be an animation.
 */
function sizeOfWebp(bytes: Buffer): Size | null {
  if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 !== bytes.length) return null
  let canvas: Size | null = null
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = textAt(bytes, at)
    const length = bytes.readUInt32LE(at + 4)
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (data.length < length) return null
    if (name === 'VP8X') {
      if (at !== 12 || length !== 10 || (data[0]! & 0x02) !== 0) return null
      canvas = { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }
    }
    const size = name === 'VP8 ' ? sizeOfLossy(data) : name === 'VP8L' ? sizeOfLossless(data) : undefined
    if (size === null) return null
    // A picture whose size differs from its canvas would be a frame of an animation.
    if (size !== undefined) return isSame(size, canvas ?? size) ? size : null
    at += 8 + length + (length % 2)
  }
  return null
}

const isSame = (size: Size, other: Size) => size.width === other.width && size.height === other.height

function sizeOfLossy(data: Buffer): Size | null {
  if (data.length < 10 || (data[0]! & 1) !== 0 || data.toString('hex', 3, 6) !== '9d012a') return null
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
}

function sizeOfLossless(data: Buffer): Size | null {
  if (data.length < 5 || data[0] !== 0x2f) return null
  const bits = data.readUInt32LE(1)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
