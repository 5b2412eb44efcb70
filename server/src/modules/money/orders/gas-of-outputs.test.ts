import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import {
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'

/** On Bitcoin the fee of a payment depends on the outputs that its address has. */
const senders = ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu']
const toAddress = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
let test: TestApp
let vault: VaultFixture
const ids: string[] = []

beforeAll(async () => {
  test = await createTestApp()
  const network = {
    ...fixtureRoutes.network,
    variants: [{ id: 0, code: 'bitcoin', name: 'Bitcoin' }, ...fixtureRoutes.network.variants],
  }
  vault = await createVaultFixture(test, { routes: { ...fixtureRoutes, network } })
  const coin = { network: 'bitcoin', code: 'BTC', symbol: '₿', name: 'Bitcoin', decimals: 8, contractAddress: null }
  expect((await vault.admin.post('/tokens', coin)).status).toBe(201)
  for (const action of ['create_address', 'transfer']) await allowAll(vault, action)
  for (const address of senders) {
    vault.wallet.answerWithAddress = () => address
    ids.push((await createAddress(vault.admin, { network: 'bitcoin', token: 'BTC' })).id)
    await deposit(test, { network: 'bitcoin', address, amount: '100' })
  }
})
afterAll(() => test.close())
beforeEach(() => {
  // The kept fees are too old by then.
  test.clock.advance(16_000)
})

const payersAsked = () =>
  vault.wallet.requests.filter(({ path }) => path === '/fees').map(({ body }) => body.fromAddress)
const order = (fromAddressId: string) =>
  vault.admin.post('/vaults/main-vault/transfers', { fromAddressId, toAddress, amount: '1' })

it('the kept fee of an address is not used for an order of another address', async () => {
  const before = payersAsked().length
  vault.wallet.fee = '1000'
  for (const id of [ids[0]!, ids[0]!]) expect((await order(id)).status).toBe(201)
  // The address has so many small outputs that the fee is more than the rest of its balance.
  vault.wallet.fee = '9900000001'
  const { status, body } = await order(ids[1]!)
  expect([status, body.reason]).toEqual([409, 'insufficient_gas'])
  expect((await order(ids[0]!)).status).toBe(201)
  expect(payersAsked().slice(before)).toEqual(senders)
})

it('the fee of the rows of a payout is requested once for each address', async () => {
  const before = payersAsked().length
  vault.wallet.fee = '1000'
  const rows = [ids[0]!, ids[1]!, ids[0]!].map((fromAddressId, row) => ({
    externalId: `row-${row}`,
    ...{ fromAddressId, toAddress, amount: '1' },
  }))
  expect((await vault.admin.post('/vaults/main-vault/payouts', { rows })).status).toBe(201)
  expect(payersAsked().slice(before)).toEqual(senders)
})
