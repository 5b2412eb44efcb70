import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { guards } from './guards.js'
import { withoutGuard } from './remove-guards.js'

it('forty guards stand in their files as their removals name them', () => {
  expect(guards.length).toBeGreaterThanOrEqual(40)
  for (const guard of guards) expect(withoutGuard(guard), guard.name).not.toContain(guard.guarded)
  expect(new Set(guards.map(({ name }) => name)).size).toBe(guards.length)
})

it('a guard that is not where it is looked for is a fault of the list', () => {
  expect(() => withoutGuard({ ...guards[0], guarded: 'no such guard' })).toThrow('found 0 times')
})

it('a removal is noticed by a test that fails, and is named when none does', async () => {
  const removed = guards.find(({ file }) => file === 'wallet/src/authority/journal.ts')
  const harmless = { ...removed, guarded: '/** A line that adds to an earlier one comes after it. */', unguarded: '' }
  const program = `
    import { removeGuards } from ${JSON.stringify(new URL('remove-guards.js', import.meta.url).href)}
    await removeGuards(${JSON.stringify([removed, harmless])}, (_, noticedBy) => console.log(noticedBy))`
  // A process of its own, without the settings of the suite.
  const env = { PATH: process.env.PATH }
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('one nonce'), 'null'])
})
