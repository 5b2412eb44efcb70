import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Compiles what is out of date: what is published is tested, not its sources. */
export function buildSdk(): void {
  run('node', 'sdk/scripts/generate.js')
  run('node_modules/.bin/tsc6', '-b', 'sdk')
  // As prepack does: the indentation of the declarations is a tenth of the package.
  run('node', 'sdk/scripts/indent.js')
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
