#!/usr/bin/env node
// Runs the compiled command line; in a fresh clone there is none yet.
import { existsSync } from 'node:fs'

const program = new URL('../dist/cli/cli.js', import.meta.url)
if (existsSync(program)) {
  await import(program.href)
} else {
  process.stderr.write('strongroom: not built yet; run "npm run build" first\n')
  process.exit(1)
}
