// The build leaves the SQL files and the assets of pages where the compiled code looks for them.
import { cpSync, rmSync } from 'node:fs'

const source = new URL('../src/db/', import.meta.url)
const target = new URL('../dist/db/', import.meta.url)
// A migration that was renamed must not run under its old name too.
rmSync(new URL('migrations', target), { recursive: true, force: true })
cpSync(new URL('migrations', source), new URL('migrations', target), { recursive: true })
cpSync(new URL('roles.sql', source), new URL('roles.sql', target))
cpSync(new URL('../src/pages/assets', import.meta.url), new URL('../dist/pages/assets', import.meta.url), {
  recursive: true,
})
