import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, createAddress, createVaultFixture, deposit } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let address: Address
let transferId: string
const hash = fakeTxHash('searched')

beforeAll(async () => {
  bench = await createTransferBench()
  address = await createAddress(bench.owner, { token: 'USDT', label: 'Harbour 50%_x' })
  await deposit(bench.test, { address: address.address, amount: '3', txHash: hash })
  await deposit(bench.test, { address: address.address, asset: bench.vault.tokens.usdt.contractAddress, amount: '900' })
  transferId = (await bench.order(address.id, '200')).body.id
  await allowAll(bench.vault, 'counterparty_create')
})
afterAll(() => bench.close())

const search = async (by: Person, q: string) => {
  const { status, body } = await by.get(`/vaults/main-vault/search?q=${encodeURIComponent(q)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items as { kind: string; id: string; title: string; subtitle: string | null }[]
}
const idsOf = async (by: Person, q: string) => (await search(by, q)).map(({ kind, id }) => `${kind} ${id}`)

describe('searching a vault', () => {
  it('finds an address by id, by its whole address in any case, by its beginning and by a part of its label', async () => {
    const item = { kind: 'address', id: address.id, title: 'Harbour 50%_x', subtitle: address.address }
    const { address: text } = address as { address: string }
    for (const q of [address.id, text, text.toLowerCase(), text.slice(0, 12), 'harbour', '50%_', ' Harbour '])
      expect([q, await search(bench.owner, q)]).toEqual([q, [item]])
    for (const q of [text.slice(0, 5), '%%', '50_', "' or true --", '\\\\']) {
      expect([q, await search(bench.owner, q)]).toEqual([q, []])
    }
  })

  it('finds operations by id and hash', async () => {
    const [found] = await search(bench.owner, hash.toUpperCase().replace('0X', '0x'))
    expect(found).toEqual({ kind: 'deposit', id: expect.any(String), title: '3 ETH', subtitle: hash })
    expect(await idsOf(bench.owner, found!.id)).toEqual([`deposit ${found!.id}`])
    expect(await search(bench.owner, transferId)).toEqual([
      { kind: 'transfer', id: transferId, title: '200 USDT', subtitle: 'awaiting_approval' },
    ])
  })

  it('finds folders, counterparties, policies, people and categories', async () => {
    const { owner, vault } = bench
    const made = async (by: Person, path: string, body: object) => {
      const answer = await by.post(`/vaults/main-vault/${path}`, body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(201)
      return answer.body.id as string
    }
    const folder = await made(owner, 'address-groups', { name: 'Northwind payouts' })
    const addresses = [{ network: 'ethereum', address: bench.recipient }]
    const counterparty = await made(owner, 'counterparties', { name: 'Northwind Trading', kind: 'company', addresses })
    const category = await made(vault.admin, 'operation-categories', { key: 'northwind_fees', name: 'Fees' })
    const policy = await bench.policy({ code: 'northwind', effect: 'block', enabled: false })
    const person = await addMember(bench.test, vault, 'northwind@example.org')
    expect(await idsOf(owner, 'NORTHWIND')).toEqual([
      `address_group ${folder}`,
      `counterparty ${counterparty}`,
      `policy ${policy.id}`,
      `person ${person.userId}`,
      `category ${category}`,
    ])
    expect(await idsOf(owner, bench.recipient.slice(0, 20))).toEqual([`counterparty ${counterparty}`])
    for (const [kind, id] of Object.entries({
      address_group: folder,
      policy: policy.id,
      person: person.userId,
      category,
    }))
      expect(await idsOf(owner, id)).toEqual([`${kind} ${id}`])
    // Only the manager of a folder and readers of the whole vault find it.
    expect(await idsOf(person, 'Northwind payouts')).toEqual([])
    expect(await idsOf(vault.admin, 'Northwind payouts')).toEqual([`address_group ${folder}`])
  })

  it('T39 finds only objects that the caller may see, and a transfer also for its voters', async () => {
    const stranger = await addMember(bench.test, bench.vault, 'stranger@example.org')
    for (const q of [address.id, address.address, address.address.slice(0, 12), 'Harbour', hash, transferId])
      expect([q, await search(stranger, q)]).toEqual([q, []])
    expect(await idsOf(bench.firstApprover, transferId)).toEqual([`transfer ${transferId}`])
    expect(await idsOf(bench.firstApprover, 'Harbour')).toEqual([])
    expect(await idsOf(bench.vault.admin, 'Harbour')).toEqual([`address ${address.id}`])
    const other = (await createVaultFixture(bench.test, { code: 'other-vault', adminEmail: 'other@example.org' })).admin
    const { status, body } = await other.get(`/vaults/other-vault/search?q=${address.id}`)
    expect([status, body.items]).toEqual([200, []])
    expect((await other.get('/vaults/main-vault/search?q=Harbour')).status).toBe(403)
    // Members of another vault are not found here.
    expect(await search(bench.vault.admin, other.userId)).toEqual([])
  })

  it('returns at most 20 items, and accepts from 2 to 100 characters', async () => {
    for (let i = 0; i < 21; i += 1) await bench.owner.post('/vaults/main-vault/address-groups', { name: `Many ${i}` })
    expect(await search(bench.owner, 'many')).toHaveLength(20)
    for (const q of ['', 'a', '%20%20', 'x'.repeat(101)])
      expect([q, (await bench.owner.get(`/vaults/main-vault/search?q=${q}`)).status]).toEqual([q, 400])
  })
})
