import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Compiles outdated files, so that the published code is tested, and not its sources. `npm test` has done so, and sets BUILT. */
export function buildSdk(): void {
  if (process.env.BUILT !== undefined) return
  run('node', 'sdk/scripts/generate.js')
  run('node_modules/.bin/tsc6', '-b', 'sdk')
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
