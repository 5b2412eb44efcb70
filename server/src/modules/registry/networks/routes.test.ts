import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'

let test: TestApp
let person: Person
let operator: Person

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  operator = await test.signIn('operator@example.org', { isPlatformAdmin: true })
  const variants = [
    { id: 60, code: 'ethereum', name: 'Ethereum' },
    { id: 0, code: 'Bitcoin', name: 'Bitcoin' },
    { id: 2, code: 'litecoin', name: 'Litecoin' },
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
    const byCoin = new Map(body.items.map((network) => [network.coinType, network]))
    expect(byCoin.get(60)).toMatchObject({ code: 'ethereum', slug: 'ethereum', type: 'evm' })
    expect(byCoin.get(0)).toMatchObject({ code: 'Bitcoin', slug: 'bitcoin', type: 'bitcoin' })
    expect(byCoin.get(2)).toMatchObject({ slug: 'litecoin', type: 'litecoin' })
    expect(byCoin.get(12345)).toMatchObject({ code: 'own_chain', slug: 'own-chain', type: 'other' })
    const first = await person.get('/networks?limit=3')
    const second = await person.get(`/networks?limit=3&cursor=${first.body.nextCursor}`)
    expect([...first.body.items, ...second.body.items]).toEqual(body.items)
    expect(second.body.nextCursor).toBeNull()
  })
})

describe('links to block explorers', () => {
  const ethereum = async () =>
    (await person.get('/networks?limit=100')).body.items.find(({ coinType }) => coinType === 60)!
  const templates = {
    explorerTxUrl: 'https://explorer.example.org/tx/{hash}',
    explorerAddressUrl: 'https://explorer.example.org/address/{address}',
  }

  it('are empty at first, set and cleared one by one, and on the record', async () => {
    const { id, explorerTxUrl, explorerAddressUrl, ...network } = await ethereum()
    expect([explorerTxUrl, explorerAddressUrl]).toEqual([null, null])
    const set = await operator.patch(`/networks/${id}`, templates)
    expect([set.status, set.body]).toEqual([200, { ...network, id, ...templates, updatedAt: set.body.updatedAt }])
    await operator.patch(`/networks/${id}`, { explorerTxUrl: null })
    expect(await ethereum()).toMatchObject({ ...templates, explorerTxUrl: null })
    const { body } = await operator.get(`/audit-log?action=network.updated&target=${id}`)
    expect(body.items.map(({ details }) => details)).toEqual([
      { changes: { explorerTxUrl: null } },
      { changes: templates },
    ])
  })

  it.each([
    ['explorerTxUrl', 'http://explorer.example.org/{hash}'],
    ['explorerTxUrl', templates.explorerAddressUrl],
    ['explorerAddressUrl', 'javascript:alert("{address}")'],
    ['explorerTxUrl', 7],
    ['slug', 'mainnet'],
  ])('refuse %s %s', async (field, value) => {
    const before = await ethereum()
    const { status, body } = await operator.patch(`/networks/${before!.id}`, { [field]: value })
    expect([status, body.details?.[0]?.field]).toEqual([400, field])
    expect(await ethereum()).toEqual(before)
  })

  it('T39 are for platform administrators', async () => {
    const { id } = await ethereum()
    expect((await person.patch(`/networks/${id}`, templates)).status).toBe(403)
    expect((await operator.patch('/networks/none', templates)).status).toBe(404)
  })
})
