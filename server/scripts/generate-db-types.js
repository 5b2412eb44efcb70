// Writes src/db/types.ts from a freshly migrated throw-away database: `npm run db:types -w server`. With `--verify` it
// writes nothing, and fails when the file is not what it would write.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../dist/db/migrate.js'
import { startEmbeddedPostgres } from '../dist/embedded-postgres/start.js'

const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-types-'))
const server = await startEmbeddedPostgres({ dataDir, fast: true })
try {
  await migrate(server.url)
  execFileSync(
    'npx',
    [
      'kysely-codegen',
      '--dialect',
      'postgres',
      '--url',
      server.url,
      '--out-file',
      'src/db/types.ts',
      '--default-schema',
      'public',
      '--include-pattern',
      'public.*',
      '--exclude-pattern',
      'public.schema_*',
      '--date-parser',
      'timestamp',
      '--numeric-parser',
      'string',
      ...(process.argv.includes('--verify') ? ['--verify'] : []),
    ],
    { cwd: new URL('..', import.meta.url).pathname, stdio: 'inherit' },
  )
} finally {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
