import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

const base = '/vaults/main-vault'

let bench: TransferBench
let reader: Person
let stranger: Person
let ownAddress: Address
let shared: Address
let inFolder: Address
let folderId: string
let grantId: string

beforeAll(async () => {
  bench = await createTransferBench()
  reader = await addMember(bench.test, bench.vault, 'auditor@example.org', ['finance'])
  stranger = await addMember(bench.test, bench.vault, 'payroll@example.org')
  ownAddress = await bench.fundedAddress({ usdt: '10' }, reader)
  shared = await bench.fundedAddress({ usdt: '200', eth: '3' })
  inFolder = await bench.fundedAddress({ usdt: '3000' })
  await bench.fundedAddress({ usdt: '40000' })
  const made = async (path: string, body: object) => {
    const answer = await bench.owner.post(`${base}/${path}`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body.id
  }
  const toReader = { subjectType: 'user', subjectId: reader.userId }
  await made(`addresses/${shared.id}/grants`, toReader)
  folderId = await made('address-groups', { name: 'Suppliers' })
  await made(`address-groups/${folderId}/members`, { addressId: inFolder.id })
  grantId = await made(`address-groups/${folderId}/grants`, toReader)
})
afterAll(() => bench.close())

/** The available balance per token, and the addresses that have accounts. */
async function balancesOf(by: Person, query = ''): Promise<{ totals: Record<string, string>; addresses: string[] }> {
  const { status, body } = await by.get(`${base}/balances?limit=100&${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  const totals = body.totals.map((total) => [total.token.code, total.availableDecimal])
  const addresses = body.accounts!.map((account) => account.address?.id ?? account.purpose)
  return { totals: Object.fromEntries(totals), addresses: [...new Set<string>(addresses)].sort() }
}
const ids = (...list: Address[]) => list.map(({ id }) => id).sort()

describe('balances', () => {
  it('cover the addresses of the caller, and with includeShared also the addresses shared with the caller', async () => {
    const ownOnly = { totals: { USDT: '10' }, addresses: ids(ownAddress) }
    expect(await balancesOf(reader)).toEqual(ownOnly)
    expect(await balancesOf(reader, 'includeShared=false')).toEqual(ownOnly)
    expect(await balancesOf(reader, 'includeShared=true')).toEqual({
      totals: { ETH: '3', USDT: '3210' },
      addresses: ids(ownAddress, shared, inFolder),
    })
    expect(await balancesOf(stranger, 'includeShared=true')).toEqual({ totals: {}, addresses: [] })
  })

  it('of one address are shown with includeShared when it is shared', async () => {
    const nothing = { totals: {}, addresses: [] }
    expect(await balancesOf(reader, `addressId=${shared.id}`)).toEqual(nothing)
    expect(await balancesOf(reader, `addressId=${shared.id}&includeShared=true`)).toEqual({
      totals: { ETH: '3', USDT: '200' },
      addresses: ids(shared),
    })
    expect(await balancesOf(reader, `addressId=${shared.id}&includeShared=true&token=ETH`)).toEqual({
      totals: { ETH: '3' },
      addresses: ids(shared),
    })
    expect(await balancesOf(stranger, `addressId=${shared.id}&includeShared=true`)).toEqual(nothing)
  })

  it('cover the whole vault for an administrator, with or without includeShared', async () => {
    const all = await balancesOf(bench.vault.admin)
    expect(all.totals).toEqual({ ETH: '3', USDT: '43210' })
    expect(await balancesOf(bench.vault.admin, 'includeShared=true')).toEqual(all)
  })

  it('are paged without gap or repetition over own and shared accounts', async () => {
    const whole = (await reader.get(`${base}/balances?includeShared=true&limit=100`)).body.accounts
    const paged: unknown[] = []
    let cursor = ''
    do {
      const { body } = await reader.get(`${base}/balances?includeShared=true&limit=2${cursor}`)
      paged.push(...body.accounts)
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(paged).toEqual(whole)
    expect(whole!.length).toBeGreaterThanOrEqual(4)
  })

  it('T40 of a member do not change with the funds and grants of others', async () => {
    const before = await balancesOf(reader, 'includeShared=true')
    const another = await bench.fundedAddress({ usdt: '7' })
    const toStranger = { subjectType: 'user', subjectId: stranger.userId, canTransfer: true }
    expect((await bench.owner.post(`${base}/addresses/${another.id}/grants`, toStranger)).status).toBe(201)
    expect(await balancesOf(reader, 'includeShared=true')).toEqual(before)
    expect(await balancesOf(stranger, 'includeShared=true')).toEqual({ totals: { USDT: '7' }, addresses: ids(another) })
  })

  it('T39 of the accounts of the vault itself are for administrators only', async () => {
    expect((await reader.get(`${base}/balances?includeShared=true&purpose=external`)).status).toBe(403)
    expect((await balancesOf(bench.vault.admin, 'purpose=external')).addresses).toEqual(['external'])
  })
})

describe('the statement', () => {
  const statement = async (by: Person, addressId: string) =>
    (await by.get(`${base}/ledger/entries?addressId=${addressId}&tokenId=${bench.vault.tokens.usdt.id}`)).status

  it('of a shared address can be read by its grantee, for as long as the grant lasts', async () => {
    expect(await Promise.all([statement(reader, shared.id), statement(reader, inFolder.id)])).toEqual([200, 200])
    expect(await Promise.all([statement(stranger, shared.id), statement(stranger, inFolder.id)])).toEqual([404, 404])
    await bench.owner.delete(`${base}/address-groups/${folderId}/grants/${grantId}`)
    expect(await Promise.all([statement(reader, shared.id), statement(reader, inFolder.id)])).toEqual([200, 404])
    expect(await balancesOf(reader, 'includeShared=true')).toEqual({
      totals: { ETH: '3', USDT: '210' },
      addresses: ids(ownAddress, shared),
    })
  })
})
