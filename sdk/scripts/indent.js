// Makes the package smaller: removes the indentation of the declarations, and writes that of the scripts as tabs. The
// compiler always writes four spaces, which are a tenth of the package.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.(d\.ts|js)$/.test(file),
)) {
  const text = readFileSync(join(dist, name), 'utf8')
  const indented = name.endsWith('.js')
    ? text.replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
    : text.replace(/^(?: {4}|\t)+/gm, '')
  if (indented !== text) writeFileSync(join(dist, name), indented)
}
