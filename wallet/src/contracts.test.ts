import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { it } from 'vitest'

it('has the test token in the form to which its source compiles', () => {
  const script = fileURLToPath(new URL('../scripts/compile-contracts.js', import.meta.url))
  execFileSync(process.execPath, [script, '--check'], { stdio: ['ignore', 'ignore', 'inherit'] })
})
