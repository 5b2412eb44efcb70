// Builds the console into dist/, each file also compressed, so that the service compresses nothing while it serves.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** How large the blocks are that compress best depends on the file. */
async function toSmallestGzip(content) {
  const tried = await Promise.all([5, 6, 7, 8, 9].map((memLevel) => toGzip(content, { level: 9, memLevel })))
  return tried.toSorted((a, b) => a.length - b.length)[0]
}

await build({ root, logLevel: 'warn' })

const names = await readdir(dist, { recursive: true, withFileTypes: true })
const files = names.filter((entry) => entry.isFile() && /\.(js|css|html|svg|json|webmanifest)$/.test(entry.name))
await Promise.all(
  files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path)
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
    await writeFile(`${path}.br`, await toBrotli(content, quality))
    await writeFile(`${path}.gz`, await toSmallestGzip(content))
  }),
)
// Written last: a build that was interrupted counts as none.
await writeFile(join(dist, 'built'), '')
