import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * Compiles outdated parts, for tests of the built commands. `npm test` has done so before the suite and sets BUILT: a build
 * beside other tests would replace the files that these run and serve.
 */
export function buildProject(script: 'build' | 'build:server' | 'build:wallet'): void {
  if (process.env.BUILT !== undefined) return
  execFileSync('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
