// Writes src/generated from openapi.json: `npm run generate -w sdk`, which every build does first.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readOperations } from './operations.js'
import { renderPaths, renderTable, renderTypes } from './render.js'

const folder = new URL('../src/generated/', import.meta.url)
const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const operations = readOperations(document)

mkdirSync(folder, { recursive: true })
write('api.ts', renderTypes(document, operations))
write('operations.ts', renderTable(operations))
write('paths.ts', renderPaths(document, operations))
removeStaleOutput(new URL('../dist/', import.meta.url), new URL('../src/', import.meta.url))

/**
 * Writes a file if its text has changed. An unchanged file keeps its time, so that the compiler need not read it again.
 */
function write(name, text) {
  const url = new URL(name, folder)
  if (!existsSync(url) || readFileSync(url, 'utf8') !== text) writeFileSync(url, text)
}

/** Removes compiled files whose sources are gone, which the package would otherwise contain. */
function removeStaleOutput(dist, source) {
  if (!existsSync(dist)) return
  for (const entry of readdirSync(dist, { recursive: true })) {
    const path = String(entry).replaceAll('\\', '/')
    const stem = path.replace(/\.(js|d\.ts)(\.map)?$/, '')
    if (stem !== path && !existsSync(new URL(`${stem}.ts`, source))) rmSync(new URL(path, dist))
  }
}
