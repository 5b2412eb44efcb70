// The compiled files of the server and of the wallet, each joined into one file. A process that reads 1,700 small files
// takes a second longer to start than a process that reads few. Only `npm start` uses the bundles, and only while the
// compiled files are unchanged.
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pluginsFor } from './bundle-plugins.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const parts = ['server', 'wallet']
const folderOf = (part) => join(root, part, 'dist', 'bundled')
const programOf = (part) => join(folderOf(part), `run-${part}.js`)
const stampPath = join(folderOf('server'), 'stamp')

/** Packages of very many small files. Others stay outside: some of them look for files beside their own. */
const inlined = /\/node_modules\/(kysely|typebox|viem|ox|abitype|@noble|@scure|openapi-fetch)\//

/** @returns {Record<string, string> | undefined} the program of each part, if all bundles are as new as their sources */
export function findBundles() {
  try {
    if (readFileSync(stampPath, 'utf8') !== stampOf()) return undefined
  } catch {
    return undefined
  }
  return Object.fromEntries(parts.map((part) => [part, programOf(part)]))
}

/** Makes the bundles in a separate process of low priority. The next start finds them. */
export function makeBundlesLater() {
  const program = fileURLToPath(new URL('./make-bundles.js', import.meta.url))
  spawn(process.execPath, [program], { stdio: 'ignore', detached: true }).unref()
}

export async function makeBundles() {
  const { rolldown } = await import('rolldown')
  // Computed before: a file that changes meanwhile makes the bundles outdated.
  const stamp = stampOf()
  for (const part of parts) {
    const bundle = await rolldown({
      input: join(root, `demo/dist/run-${part}.js`),
      platform: 'node',
      logLevel: 'silent',
      plugins: pluginsFor(inlined),
    })
    const draft = `${folderOf(part)}.${process.pid}`
    try {
      await bundle.write({ dir: draft, format: 'esm' })
      await bundle.close()
      rmSync(folderOf(part), { recursive: true, force: true })
      renameSync(draft, folderOf(part))
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  }
  mkdirSync(folderOf('server'), { recursive: true })
  writeFileSync(stampPath, stamp)
}

/** Returns a stamp of the inputs of the bundles: the place, the compiled files, and the installed packages. */
function stampOf() {
  const files = ['sdk', 'server', 'wallet', 'demo'].flatMap((name) => {
    const folder = join(root, name, 'dist')
    return readdirSync(folder, { recursive: true })
      .filter((path) => path.endsWith('.js') && !path.startsWith('bundled'))
      .map((path) => join(folder, path))
  })
  const newest = [...files, join(root, 'node_modules/.package-lock.json'), join(root, 'package-lock.json')].reduce(
    (latest, path) => Math.max(latest, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
    0,
  )
  return `${root} ${files.length} ${newest}\n`
}
