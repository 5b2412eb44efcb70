// Checks the package of the present folder as it would be published: `npm run check:package -w sdk`, after a build.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tools = fileURLToPath(new URL('../../node_modules/.bin/', import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), 'strongroom-package-'))
const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' })

try {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary]
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }))
  const tarball = join(temporary, filename)
  run(join(tools, 'publint'), '--strict', tarball)
  // The package contains ES modules only, so resolutions without exports or ES modules are not checked.
  run(join(tools, 'attw'), '--profile', 'esm-only', tarball)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
