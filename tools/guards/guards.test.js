import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { guards } from './guards.js'
import { withoutGuard } from './remove-guards.js'

it('the list has at least forty guards, and each occurs in its file as its removal names it', () => {
  expect(guards.length).toBeGreaterThanOrEqual(40)
  for (const guard of guards) expect(withoutGuard(guard), guard.name).not.toContain(guard.guarded)
  expect(new Set(guards.map(({ name }) => name)).size).toBe(guards.length)
})

it('a guard that is not in its file is reported as a fault of the list', () => {
  expect(() => withoutGuard({ ...guards[0], guarded: 'no such guard' })).toThrow('found 0 times')
})

it('a removal is noticed if a test fails, and is reported if no test fails', async () => {
  const removed = guards.find(({ file }) => file === 'wallet/src/authority/journal.ts')
  const [comment] = /^ *\/\*\* .+ \*\/$/m.exec(
    await readFile(new URL(`../../${removed.file}`, import.meta.url), 'utf8'),
  )
  const harmless = { ...removed, guarded: comment, unguarded: '' }
  const program = `
    import { removeGuards } from ${JSON.stringify(new URL('remove-guards.js', import.meta.url).href)}
    await removeGuards(${JSON.stringify([removed, harmless])}, (_, noticedBy) => console.log(noticedBy))`
  // A process of its own, without the settings of the suite.
  const env = { PATH: process.env.PATH }
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('one nonce'), 'null'])
})
