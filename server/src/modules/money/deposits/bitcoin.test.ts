import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import {
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture

const first = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const second = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'
const sender = 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'
const legacy = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'

beforeAll(async () => {
  test = await createTestApp()
  const network = {
    ...fixtureRoutes.network,
    variants: [{ id: 0, code: 'bitcoin', name: 'Bitcoin' }, ...fixtureRoutes.network.variants],
  }
  vault = await createVaultFixture(test, { routes: { ...fixtureRoutes, network } })
  const coin = { network: 'bitcoin', code: 'BTC', symbol: '₿', name: 'Bitcoin', decimals: 8, contractAddress: null }
  expect((await vault.admin.post('/tokens', coin)).status).toBe(201)
  for (const action of ['create_address', 'transfer', 'counterparty_create']) await allowAll(vault, action)
})
afterAll(() => test.close())

describe('addresses of Bitcoin', () => {
  const create = (address: string) => {
    vault.wallet.answerWithAddress = () => address
    return createAddress(vault.admin, { network: 'bitcoin', token: 'BTC' })
  }

  it('match in capitals if they are of a form in which case carries no information', async () => {
    const created = await create(first.toUpperCase())
    expect(created.address).toBe(first)
    const { body: known } = await vault.admin.post('/vaults/main-vault/counterparties', {
      name: 'Miner',
      kind: 'company',
      addresses: [{ network: 'bitcoin', address: sender }],
    })
    const { body } = await deposit(test, {
      network: 'bitcoin',
      address: first.toUpperCase(),
      amount: '1.5',
      fromAddress: sender.toUpperCase(),
    })
    expect(body.outcome).toBe('credited')
    const credited = await vault.admin.get(`/vaults/main-vault/deposits/${body.depositId}`)
    expect(credited.body).toMatchObject({ addressId: created.id, counterparty: { id: known.id }, flowType: 'external' })

    const other = await create(second)
    const order = { fromAddressId: created.id, toAddress: second.toUpperCase(), amount: '0.5' }
    const transfer = await vault.admin.post('/vaults/main-vault/transfers', order)
    expect(transfer.status).toBe(201)
    expect(transfer.body).toMatchObject({ toAddress: second, toAddressId: other.id, flowType: 'internal' })
  })

  it('are compared exactly in base58, and a mistyped address is refused', async () => {
    await create(legacy)
    const received = (address: string) => deposit(test, { network: 'bitcoin', address, amount: '1' })
    expect((await received(legacy)).body.outcome).toBe('credited')
    expect((await received(legacy.toLowerCase())).body.outcome).toBe('unmatched')
    const order = { fromAddressId: (await create('3P14159f73E4gFr7JterCCQh9QjiTjiZrG')).id, amount: '1' }
    for (const toAddress of [
      `${legacy.slice(0, -1)}b`,
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    ]) {
      const answer = await vault.admin.post('/vaults/main-vault/transfers', { ...order, toAddress })
      expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'toAddress'])
    }
  })

  it('are not paid less than nodes relay, and the preview and the order name the least amount', async () => {
    const { id: fromAddressId } = await create('bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3')
    for (const path of ['transfers', 'transfers/preview'] as const) {
      const answer = await vault.admin.post(`/vaults/main-vault/${path}`, {
        fromAddressId,
        toAddress: first,
        amount: '0.00000293',
      })
      const message = 'must be at least 0.00000294: the network relays no smaller payment'
      expect([answer.status, answer.body.details]).toEqual([400, [{ field: 'amount', message }]])
    }
    const least = await vault.admin.post('/vaults/main-vault/transfers/preview', {
      fromAddressId,
      toAddress: first,
      amount: '0.00000294',
    })
    expect(least.status).toBe(200)
  })

  it('are refused when the wallet service invents them', async () => {
    vault.wallet.answerWithAddress = () => `${first.slice(0, -1)}5`
    const body = { network: 'bitcoin', segments: { purpose: 'ops' }, token: 'BTC' }
    expect((await vault.admin.post('/vaults/main-vault/addresses', body)).status).toBe(502)
  })
})
