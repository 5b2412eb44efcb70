// Writes src/schema.ts, the types of the API, from openapi.json: `npm run generate -w sdk`, which every build does first.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import openapiTS, { astToString } from 'openapi-typescript'

const source = new URL('../../openapi.json', import.meta.url)
const target = new URL('../src/schema.ts', import.meta.url)
const { version } = createRequire(import.meta.url)('openapi-typescript/package.json')

// Generating takes seconds, and most builds find openapi.json as it was.
const hash = createHash('sha256').update(version).update(readFileSync(source)).digest('hex')
const head = `// Generated from openapi.json by openapi-typescript ${version}: do not edit.\n// ${hash}\n\n`
if (!existsSync(target) || !readFileSync(target, 'utf8').startsWith(head)) {
  writeFileSync(target, head + astToString(await openapiTS(source, { silent: true })))
}
