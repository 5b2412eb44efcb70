// Writes docs/wallet-protocol.openapi.json from the compiled schemas; run it with `npm run openapi -w wallet`.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { buildOpenApi } from '../dist/openapi.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const file = fileURLToPath(new URL('../../docs/wallet-protocol.openapi.json', import.meta.url))
writeFileSync(file, `${JSON.stringify(buildOpenApi(), null, 2)}\n`)
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
execFileSync(process.execPath, [biome, 'format', '--write', file], { cwd: root, stdio: 'inherit' })
