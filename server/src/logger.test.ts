import { expect, it } from 'vitest'
import { createLogger } from './logger.ts'
import { createTestApp } from './testing/app.ts'
import { createVaultFixture } from './testing/fixtures.ts'

it('writes the time as ISO 8601 and the level by its name', () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  log.warn({ token: 'a', nested: { secret: 'b' } }, 'something')
  log.debug('too quiet')
  const [line] = lines.map((text) => JSON.parse(text))
  expect(lines).toHaveLength(1)
  expect(line).toMatchObject({ level: 'warn', msg: 'something', nested: { secret: '[redacted]' } })
  expect(new Date(line.time).toISOString()).toBe(line.time)
})

it('names the caller and the vault of an answer where the guard has found them', async () => {
  const test = await createTestApp({ LOG_LEVEL: 'info' })
  try {
    const vault = await createVaultFixture(test)
    test.logged.length = 0
    await vault.admin.get(`/vaults/${vault.code}/addresses`)
    await test.anonymous.get(`/vaults/${vault.code}`)
    await test.anonymous.get('//healthz')
    const lines = test.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
    expect(lines.map(({ status, caller, vault: code }) => ({ status, caller, code }))).toEqual([
      { status: 200, caller: vault.admin.userId, code: vault.code },
      { status: 401, caller: undefined, code: undefined },
    ])
  } finally {
    await test.close()
  }
})
