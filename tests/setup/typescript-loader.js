import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pluginsFor } from '../../tools/start/bundle-plugins.js'

/** Where the programs of threads are kept for all processes of the suite; without it each thread makes its own. */
const folder = process.env.TEST_THREADS_FOLDER

/**
 * The hook of Node.js that makes a module of a file. All that the program of a thread imports of the project is joined to one
 * module, once for the suite: compiling and linking four hundred files took each thread three seconds.
 */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  return { format: 'module', source: await programOf(fileURLToPath(url)), shortCircuit: true }
}

async function programOf(file) {
  const kept = folder === undefined ? null : join(folder, `${file.replaceAll(/\W/g, '-')}.js`)
  const found = kept === null ? null : await readFile(kept, 'utf8').catch(() => null)
  return found ?? bundle(file, kept)
}

async function bundle(file, kept) {
  const { rolldown } = await import('rolldown')
  const draft = await mkdtemp(join(folder ?? tmpdir(), 'strongroom-thread-'))
  try {
    const bundle = await rolldown({
      input: file,
      platform: 'node',
      logLevel: 'silent',
      plugins: pluginsFor(inlined),
    })
    const target = join(draft, 'program.js')
    await bundle.write({ file: target, format: 'esm', codeSplitting: false })
    await bundle.close()
    const source = await readFile(target, 'utf8')
    if (kept !== null) await rename(target, kept)
    return source
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** All packages are joined, too: a thread that found its packages by itself took three times as long to start. */
const inlined = /\/node_modules\//
