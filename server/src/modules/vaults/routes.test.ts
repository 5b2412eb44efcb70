import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../testing/app.ts'
import { createVaultFixture, type VaultFixture } from '../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
})
afterAll(() => test.close())

describe('vaults', () => {
  it('parses a path', async () => {
    const answer = await vault.admin.post('/vaults/main-vault/derivation-path/parse', { path: 'm/44/60/1/7' })
    expect(answer.status).toBe(200)
    console.log(JSON.stringify(answer.body, null, 1))
    console.log(JSON.stringify((await vault.admin.get('/vaults')).body, null, 1).slice(0, 300))
  })
})
