// The build leaves the SQL files where the compiled migration looks for them.
import { cpSync } from 'node:fs'

const source = new URL('../src/db/', import.meta.url)
const target = new URL('../dist/db/', import.meta.url)
cpSync(new URL('migrations', source), new URL('migrations', target), { recursive: true })
cpSync(new URL('roles.sql', source), new URL('roles.sql', target))
