import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'

let test: TestApp
let person: Person

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  const operator = await test.signIn('operator@example.org', { isPlatformAdmin: true })
  const variants = [
    { id: 60, code: 'ethereum', name: 'Ethereum' },
    { id: 0, code: 'Bitcoin', name: 'Bitcoin' },
    { id: 12345, code: 'own_chain', name: 'Own chain' },
  ]
  const answer = await operator.post('/vaults', {
    vault: { code: 'main-vault', name: 'Main', walletServiceUrl: 'https://wallet.example.org' },
    routes: { network: { order: 0, name: 'Network', variants } },
  })
  expect(answer.status).toBe(201)
})
afterAll(() => test.close())

describe('networks', () => {
  it('lists networks with slug and type, for every signed-in caller', async () => {
    const { status, body } = await person.get('/networks')
    expect(status).toBe(200)
    const byCoin = new Map(body.items.map((network: { coinType: number }) => [network.coinType, network]))
    expect(byCoin.get(60)).toMatchObject({ code: 'ethereum', slug: 'ethereum', type: 'evm' })
    expect(byCoin.get(0)).toMatchObject({ code: 'Bitcoin', slug: 'bitcoin', type: 'bitcoin' })
    expect(byCoin.get(12345)).toMatchObject({ code: 'own_chain', slug: 'own-chain', type: 'other' })
    const first = await person.get('/networks?limit=2')
    const second = await person.get(`/networks?limit=2&cursor=${first.body.nextCursor}`)
    expect([...first.body.items, ...second.body.items]).toEqual(body.items)
    expect(second.body.nextCursor).toBeNull()
  })

  it('T39 answers 401 without a session', async () => {
    expect((await test.anonymous.get('/networks')).status).toBe(401)
  })
})
