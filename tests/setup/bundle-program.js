// node bundle-program.js PROGRAM FOLDER: bundles a compiled program with everything that it imports, including
// packages.
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { rolldown } from 'rolldown'
import { pluginsFor } from '../../tools/start/bundle-plugins.js'

const [input, folder] = process.argv.slice(2)
const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent', plugins: pluginsFor(/\/node_modules\//) })
const draft = `${folder}.${process.pid}`
await bundle.write({ dir: draft, format: 'esm', entryFileNames: 'program.js' })
await bundle.close()
try {
  await rename(draft, folder)
} catch (error) {
  // Another process of the suite may have been faster.
  await rm(draft, { recursive: true })
  if (!existsSync(folder)) throw error
}
