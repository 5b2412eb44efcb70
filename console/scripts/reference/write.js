// Writes src/generated/reference from openapi.json and docs/errors.md, before every build and start of Vite.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digest } from './digest.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = join(root, 'console/src/generated/reference')

export function writeReference() {
  const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
  const files = digest(document, readFileSync(join(root, 'docs/errors.md'), 'utf8'))
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    if (!(name.replace(/\.json$/, '') in files)) rmSync(join(folder, name))
  }
  for (const [name, content] of Object.entries(files)) write(join(folder, `${name}.json`), JSON.stringify(content))
}

/** A file that stays as it was keeps its time, so that nothing is built for it. */
function write(path, text) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
}
