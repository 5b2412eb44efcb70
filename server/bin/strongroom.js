#!/usr/bin/env node
// Runs the compiled command line; in a fresh clone there is none yet.
import { existsSync } from 'node:fs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`strongroom: Node.js 20.19 or newer is needed; this is ${process.versions.node}\n`)
  process.exit(1)
}

const program = new URL('../dist/cli/cli.js', import.meta.url)
if (existsSync(program)) {
  await import(program.href)
} else {
  process.stderr.write('strongroom: not built yet; run "npm run build" first\n')
  process.exit(1)
}
