// Builds the web console in a separate process if its sources are newer than the last build. The database and the chain
// start meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../console/', import.meta.url))

/**
 * @returns {Promise<boolean>} true if the console was built
 * @throws {Error} with the output of the build
 */
export async function buildStaleConsole() {
  if (process.env.CONSOLE === 'off' || !isStale()) return false
  announceBuild()
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc']
  const build = spawn(process.execPath, [join(folder, 'scripts/build.js')], { stdio })
  let output = ''
  for (const stream of [build.stdout, build.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  // The build sends one message when the files exist, and then compresses them.
  const [code] = await Promise.race([once(build, 'message').then(() => [0]), once(build, 'close')])
  if (code !== 0) throw new Error(`the console cannot be built:\n${output}`)
  return true
}

/** Writes a page that waits for the build. The server starts meanwhile and serves it, until the build replaces it. */
function announceBuild() {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  writeFileSync(
    join(dist, 'index.html'),
    '<!doctype html><html lang="en"><meta http-equiv="refresh" content="1"><title>Strongroom</title>' +
      '<p>The console is being built. This page opens it when it is ready.</p></html>\n',
  )
}

function isStale() {
  const builtAt = changedAt(join(folder, 'dist/built'))
  if (builtAt === 0) return true
  const sources = ['src', 'public', 'scripts'].flatMap((name) =>
    readdirSync(join(folder, name), { recursive: true }).map((path) => join(folder, name, path)),
  )
  const others = [
    'index.html',
    'first-requests.js',
    'vite.config.ts',
    'package.json',
    '../openapi.json',
    '../docs/errors.md',
  ].map((name) => join(folder, name))
  return [...sources, ...others].some((path) => !path.endsWith('.gen.ts') && changedAt(path) > builtAt)
}

function changedAt(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  // A folder changes whenever the list of pages is written into it.
  return stats === undefined || stats.isDirectory() ? 0 : stats.mtimeMs
}
