import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'

let test: TestApp
let operator: Person
let person: Person

const usdt = {
  network: 'ethereum',
  code: 'USDT',
  symbol: 'USD₮',
  name: 'Tether USD',
  contractAddress: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  decimals: 6,
}

beforeAll(async () => {
  test = await createTestApp()
  operator = await test.signIn('operator@example.org', { isPlatformAdmin: true })
  person = await test.signIn('person@example.org')
  const answer = await operator.post('/vaults', {
    vault: { code: 'main-vault', name: 'Main', walletServiceUrl: 'https://wallet.example.org' },
    routes: {
      network: {
        order: 0,
        name: 'Network',
        variants: [
          { id: 60, code: 'ethereum', name: 'Ethereum' },
          { id: 0, code: 'bitcoin', name: 'Bitcoin' },
        ],
      },
    },
  })
  expect(answer.status).toBe(201)
})
afterAll(() => test.close())

describe('tokens', () => {
  it('registers a token, its EVM contract in EIP-55 form, with an audit record', async () => {
    const { status, body } = await operator.post('/tokens', usdt)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...usdt,
      contractAddress: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      logoUri: null,
      enabled: true,
    })
    const record = await test.deps.db
      .selectFrom('audit_records')
      .select(['action', 'chain', 'actor_id'])
      .where('target_id', '=', body.id)
      .executeTakeFirstOrThrow()
    expect(record).toEqual({ action: 'token.created', chain: 'platform', actor_id: operator.userId })
  })

  it('registers a coin by network id', async () => {
    const { items } = (await person.get('/networks')).body
    const ethereum = items.find(({ coinType }) => coinType === 60)
    const { network: _, ...rest } = usdt
    const coin = { ...rest, code: 'ETH', symbol: 'ETH', name: 'Ether', contractAddress: null, decimals: 18 }
    const { status, body } = await operator.post('/tokens', { ...coin, networkId: ethereum!.id })
    expect(status).toBe(201)
    expect(body).toMatchObject({ network: 'ethereum', networkId: ethereum!.id, contractAddress: null })
  })

  it('filters by network, state and text, and treats wildcards as plain characters', async () => {
    await operator.post('/tokens', {
      ...usdt,
      network: 'bitcoin',
      code: 'ODD',
      name: '100%_odd',
      contractAddress: 'odd',
      enabled: false,
    })
    const codesFor = async (query: string) =>
      (await person.get(`/tokens?${query}`)).body.items.map(({ code }) => code).sort()
    expect(await codesFor('')).toEqual(['ETH', 'ODD', 'USDT'])
    expect(await codesFor('network=ethereum')).toEqual(['ETH', 'USDT'])
    expect(await codesFor('network=nowhere')).toEqual([])
    expect(await codesFor('enabled=false')).toEqual(['ODD'])
    expect(await codesFor('enabled=true&search=tether')).toEqual(['USDT'])
    expect(await codesFor(`search=${encodeURIComponent('%_')}`)).toEqual(['ODD'])
  })

  it('changes the name, logo and kill switch of a token, and refuses other changes', async () => {
    const { body } = await operator.get('/tokens?search=USDT')
    const { id } = body.items[0]!
    const changed = await operator.patch(`/tokens/${id}`, {
      name: 'Tether',
      enabled: false,
      logoUri: 'https://example.org/t.png',
    })
    expect(changed.body).toMatchObject({
      name: 'Tether',
      enabled: false,
      logoUri: 'https://example.org/t.png',
      code: 'USDT',
    })
    const restored = await operator.patch(`/tokens/${id}`, { enabled: true, logoUri: null })
    expect(restored.body).toMatchObject({ name: 'Tether', enabled: true, logoUri: null })
    for (const field of ['decimals', 'code', 'contractAddress', 'networkId']) {
      const answer = await operator.patch(`/tokens/${id}`, { [field]: 8 })
      expect(answer.status).toBe(400)
      expect(answer.body.details[0]!.field).toBe(field)
    }
  })
})

describe('refused tokens', () => {
  it.each([
    ['no network', { network: undefined }, 'network'],
    ['two networks', { networkId: newId() }, 'network'],
    ['an unknown network', { network: 'nowhere' }, 'network'],
    ['an unknown network id', { network: undefined, networkId: newId() }, 'networkId'],
    ['a short contract', { contractAddress: '0x12' }, 'contractAddress'],
    ['a wrong checksum', { contractAddress: '0xDAC17F958D2ee523a2206206994597C13D831ec7' }, 'contractAddress'],
    ['no contract and no null', { contractAddress: undefined }, 'contractAddress'],
    ['negative decimals', { decimals: -1 }, 'decimals'],
    ['too many decimals', { decimals: 37 }, 'decimals'],
    ['decimals as text', { decimals: '6' }, 'decimals'],
    ['a code with a space', { code: 'A B' }, 'code'],
    ['an unknown field', { isAdmin: true }, 'isAdmin'],
  ])('answers 400 for %s', async (_, change, field) => {
    const answer = await operator.post('/tokens', {
      ...usdt,
      code: 'NEW',
      contractAddress: fakeAddress('new'),
      ...change,
    })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
  })

  it('answers 409 for a taken code or contract, in any case', async () => {
    expect((await operator.post('/tokens', { ...usdt, contractAddress: fakeAddress('other') })).status).toBe(409)
    const upper = `0x${usdt.contractAddress.slice(2).toUpperCase()}`
    expect((await operator.post('/tokens', { ...usdt, code: 'USDT2', contractAddress: upper })).status).toBe(409)
    expect((await operator.post('/tokens', { ...usdt, code: 'ETH2', contractAddress: null })).status).toBe(409)
  })

  it('answers 404 for a change of an unknown token', async () => {
    expect((await operator.patch(`/tokens/${newId()}`, { name: 'x' })).status).toBe(404)
  })
})
