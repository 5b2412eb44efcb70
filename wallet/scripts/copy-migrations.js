// Puts the SQL files beside the compiled files, where migrate.js looks for them.
import { cpSync, rmSync } from 'node:fs'

const from = new URL('../src/migrations/', import.meta.url)
const to = new URL('../dist/migrations/', import.meta.url)
rmSync(to, { recursive: true, force: true })
cpSync(from, to, { recursive: true })
