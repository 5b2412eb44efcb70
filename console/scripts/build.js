// Builds the console into dist/, each file also compressed, so that the service compresses nothing while it serves. The
// parent process is told when the files can be served; they are compressed afterwards.
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'
import { findPreloads } from './preloads.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** Tries several memory levels, because the block size that compresses best depends on the file. */
async function toSmallestGzip(content) {
  const tried = await Promise.all([5, 6, 7, 8, 9].map((memLevel) => toGzip(content, { level: 9, memLevel })))
  return tried.toSorted((a, b) => a.length - b.length)[0]
}

async function put(path, content) {
  // Written to another name and renamed: the service may be serving already, and must not read half a file.
  await writeFile(`${path}.draft`, content)
  await rename(`${path}.draft`, path)
}

// The environment of tests sets NODE_ENV to another value, with which React is half as large again, and slow.
process.env.NODE_ENV = 'production'
await build({ root, logLevel: 'warn' })
await writeFile(join(dist, 'preloads.json'), JSON.stringify(findPreloads(root)))
await rm(join(dist, '.vite'), { recursive: true })
if (process.send) {
  process.send('built')
  process.disconnect()
  setPriority(19)
}

const names = await readdir(dist, { recursive: true, withFileTypes: true })
const files = names.filter((entry) => entry.isFile() && /\.(js|css|html|svg|json|webmanifest)$/.test(entry.name))
await Promise.all(
  files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path)
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
    await put(`${path}.br`, await toBrotli(content, quality))
    await put(`${path}.gz`, await toSmallestGzip(content))
  }),
)
// Written last: an interrupted build has no such file.
await writeFile(join(dist, 'built'), '')
