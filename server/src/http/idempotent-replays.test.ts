import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { createSignInLink } from '../modules/people/sign-in/actions.ts'
import type { Address } from '../testing/answer.ts'
import type { Person, TestApp } from '../testing/app.ts'
import { describedApiOf } from '../testing/described-api.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'

let bench: TransferBench
let test: TestApp
let admin: Person
let owner: Person
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
  test = bench.test
  admin = bench.vault.admin
  owner = bench.owner
  address = await bench.fundedAddress()
})
afterAll(() => bench.close())

const key = { 'idempotency-key': 'the-same-key' }
const vaultUrl = '/vaults/main-vault'

async function tokenFor(email: string): Promise<string> {
  const link = await inTransaction(test.deps.db, (trx) => createSignInLink(trx, test.deps, email, test.clock.now()))
  return new URL(link).searchParams.get('token')!
}

const simulation = (amount: string) => ({
  actionType: 'transfer',
  payload: { fromAddressId: address.id, toAddress: bench.recipient, amount },
})

describe('T50 Idempotency-Key', () => {
  it('is documented for every operation except GET and the webhook', () => {
    const without = Object.values(describedApiOf(test.app).paths)
      .flatMap((path) => Object.entries(path))
      .filter(
        ([method, { parameters }]) => method !== 'get' && !parameters?.some(({ name }) => name === 'Idempotency-Key'),
      )
      .map(([, { operationId }]) => operationId)
    expect(without).toEqual(['receiveWalletEvent'])
  })

  it('signs in once; the session is shown to the first sender alone', async () => {
    const body = { token: await tokenFor(admin.email) }
    const before = await bench.count('sessions')
    const first = await test.anonymous.post('/auth/magic-link/verify', body, key)
    expect(first.status).toBe(200)
    expect(first.body.token).toEqual(expect.any(String))
    const again = await test.anonymous.post('/auth/magic-link/verify', body, key)
    const { token: _token, ...rest } = first.body
    expect([again.status, again.body]).toEqual([200, rest])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.headers['set-cookie']).toBeUndefined()
    expect(await bench.count('sessions')).toBe(before + 1)
    // Without the key the link is used up, and the same key does not answer for another link.
    expect((await test.anonymous.post('/auth/magic-link/verify', body)).status).toBe(401)
    const other = await test.anonymous.post('/auth/magic-link/verify', { token: await tokenFor(admin.email) }, key)
    expect(other.body.token).toEqual(expect.any(String))
    expect(other.headers['idempotency-replayed']).toBeUndefined()
  })

  it('asks for a single sign-in link, and gives a stranger no answer by the same key', async () => {
    const ask = (email: string) => test.anonymous.post('/auth/magic-link', { email }, key)
    const before = await bench.count('magic_links')
    const first = await ask(admin.email)
    const again = await ask(admin.email)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.headers['set-cookie']).toBeUndefined()
    await test.sendMails()
    expect(await bench.count('magic_links')).toBe(before + 1)
    expect((await ask('somebody@example.org')).headers['idempotency-replayed']).toBeUndefined()
  })

  it('never shows the secret of an invitation again', async () => {
    const { body: groups } = await admin.get(`${vaultUrl}/policy-groups`)
    const body = {
      email: 'invited@example.org',
      groupIds: [groups.items.find((group) => group.code !== 'everyone')!.id],
    }
    const first = await admin.post('/invitations', body, key)
    const { token, ...rest } = first.body
    expect(token).toEqual(expect.any(String))
    const again = await admin.post('/invitations', body, key)
    expect([again.status, again.body]).toEqual([201, rest])
  })

  it.each([
    [
      'transfers/preview',
      () => ({ fromAddressId: address.id, toAddress: bench.recipient, amount: '1' }),
      () => ({ fromAddressId: address.id, toAddress: bench.recipient, amount: '2' }),
    ],
    ['policies/simulate', () => simulation('1'), () => simulation('2')],
    ['derivation-path/parse', () => ({ path: address.derivationPath }), () => ({ path: 'm/1' })],
  ])('repeats the answer of %s, and refuses it for another body', async (path, body, other) => {
    const headers = { 'idempotency-key': path }
    const first = await owner.post(`${vaultUrl}/${path}`, body(), headers)
    expect(first.status).toBe(200)
    const again = await owner.post(`${vaultUrl}/${path}`, body(), headers)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect((await owner.post(`${vaultUrl}/${path}`, other(), headers)).status).toBe(409)
  })
})
