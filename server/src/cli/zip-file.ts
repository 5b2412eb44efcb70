import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'

/** A file that is not a whole ZIP archive of the form that the service writes. The message completes a sentence about it. */
export class ZipFault extends Error {}

export type ZipMember = {
  name: string
  /** Bytes after decompression. */
  sizeBytes: number
  /** Reads the member. @throws ZipFault for compressed data that is damaged, or of another length */
  read(): AsyncIterable<Buffer>
}

const endBytes = 22
const headBytes = 30
const entryBytes = 46
const descriptorBytes = 16
/** The directory of 65,535 members with long names. */
const directoryBytesMax = 64 * 1_048_576
const readBytes = 65_536
const deflated = 8

/**
 * Opens a ZIP archive, and finds its members by the directory at its end. No byte may be outside of the members and of the directory,
 * so that no program finds another member than this one.
 *
 * @throws ZipFault for another file, an Error for a file that cannot be read
 */
export async function openZip(path: string): Promise<{ members: ZipMember[]; close(): Promise<void> }> {
  const file = await open(path)
  try {
    return { members: await readMembers(file), close: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readMembers(file: FileHandle): Promise<ZipMember[]> {
  const { size } = await file.stat()
  const end = await readAt(file, Math.max(0, size - endBytes), endBytes)
  if (end.length < endBytes || end.readUInt32LE(0) !== 0x06054b50) throw new ZipFault('does not end as a ZIP archive')
  const [count, length, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)]
  if (start + length + endBytes !== size || length > directoryBytesMax)
    throw new ZipFault('has a directory that does not fit')
  const entries = readDirectory(await readAt(file, start, length))
  if (entries.length !== count) throw new ZipFault('has a directory of another length')
  const members: ZipMember[] = []
  let offset = 0
  for (const entry of entries) {
    const { name, sizeBytes, compressedBytes } = entry
    const data = offset + headBytes + Buffer.byteLength(name)
    if (entry.offset !== offset || !(await isHeadOf(file, entry)))
      throw new ZipFault(`does not begin ${name} where it should`)
    members.push({ name, sizeBytes, read: () => inflated(file, name, { data, compressedBytes, sizeBytes }) })
    offset = data + compressedBytes + descriptorBytes
  }
  if (offset !== start) throw new ZipFault('has bytes that belong to no member')
  return members
}

type Entry = { name: string; compressedBytes: number; sizeBytes: number; offset: number }

function readDirectory(bytes: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length; ) {
    if (at + entryBytes > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50)
      throw new ZipFault('has a damaged directory')
    const nameBytes = bytes.readUInt16LE(at + 28)
    const hasMore = bytes.readUInt16LE(at + 30) !== 0 || bytes.readUInt16LE(at + 32) !== 0
    const name = bytes.toString('utf8', at + entryBytes, at + entryBytes + nameBytes)
    if (hasMore || bytes.readUInt16LE(at + 10) !== deflated)
      throw new ZipFault(`has ${name} in a form that is not known`)
    entries.push({
      name,
      compressedBytes: bytes.readUInt32LE(at + 20),
      sizeBytes: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    })
    at += entryBytes + nameBytes
  }
  return entries
}

/** Returns true if the head of a member has its name and nothing more. */
async function isHeadOf(file: FileHandle, { name, offset }: Entry): Promise<boolean> {
  const nameBytes = Buffer.byteLength(name)
  const head = await readAt(file, offset, headBytes + nameBytes)
  return (
    head.length === headBytes + nameBytes &&
    head.readUInt32LE(0) === 0x04034b50 &&
    head.readUInt16LE(26) === nameBytes &&
    head.readUInt16LE(28) === 0 &&
    head.toString('utf8', headBytes) === name
  )
}

type Place = { data: number; compressedBytes: number; sizeBytes: number }

async function* inflated(
  file: FileHandle,
  name: string,
  { data, compressedBytes, sizeBytes }: Place,
): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw()
  // A fault of either stream ends the iteration below.
  pipeline(Readable.from(bytesOf(file, data, compressedBytes)), inflate, () => {})
  let length = 0
  try {
    for await (const part of inflate as AsyncIterable<Buffer>) {
      length += part.length
      if (length > sizeBytes) break
      yield part
    }
  } catch {
    throw new ZipFault(`has ${name} with data that cannot be decompressed`)
  }
  if (length !== sizeBytes) throw new ZipFault(`has ${name} with another length`)
}

async function* bytesOf(file: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += readBytes) yield await readAt(file, start + at, Math.min(readBytes, length - at))
}

/** Reads bytes at a place; fewer where the file ends. */
async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
