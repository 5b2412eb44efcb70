import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Compiles what is out of date: what is published is tested, not its sources. */
export function buildSdk(): void {
  run('node', 'sdk/scripts/generate.js')
  run('node_modules/.bin/tsc6', '-b', 'sdk')
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
