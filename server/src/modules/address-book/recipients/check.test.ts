import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let stranger: Person
let count = 0

beforeAll(async () => {
  bench = await createTransferBench()
  await allowAll(bench.vault, 'counterparty_create')
  await allowAll(bench.vault, 'counterparty_archive')
  stranger = await addMember(bench.test, bench.vault, 'stranger@example.org', ['treasury'])
})
afterAll(() => bench.close())

const base = () => `/vaults/${bench.vault.code}` as const
async function check(addresses: string[], by = bench.owner, network = 'ethereum') {
  const recipients = addresses.map((address) => ({ network, address }))
  const { status, body } = await by.post(`${base()}/recipients/check`, { recipients })
  expect([status, body.message]).toEqual([200, undefined])
  return body.items
}

/** Another address with the same first and last four characters. */
function lookAlikeOf(address: string): string {
  count += 1
  return `0x${address.slice(2, 6)}${fakeTxHash(`alike ${count}`).slice(2, 34)}${address.slice(-4)}`.toLowerCase()
}

async function supplier(name: string, label: string | null = null): Promise<{ id: string; address: string }> {
  count += 1
  const address = fakeAddress(`recipient ${count}`)
  const addresses = [{ network: 'ethereum', address, label }]
  const { status, body } = await bench.owner.post(`${base()}/counterparties`, { name, kind: 'company', addresses })
  expect(status).toBe(201)
  return { id: body.id, address }
}

async function paid(toAddress: string): Promise<void> {
  const { id } = await bench.fundedAddress()
  const { status, body } = await bench.owner.post(`${base()}/transfers`, { fromAddressId: id, toAddress, amount: '1' })
  expect(status).toBe(201)
  await bench.deliver()
  bench.vault.wallet.confirm(body.id)
  await bench.deliver()
  expect((await bench.read(body.id)).status).toBe('confirmed')
}

describe('checkRecipients', () => {
  it('names the holder of a known address, in every spelling, and no longer once the counterparty is archived', async () => {
    const { id, address } = await supplier('Harbour Trading', 'Invoices')
    const known = { name: 'Harbour Trading', label: 'Invoices', counterpartyId: id, network: 'ethereum' }
    const [checked, lower] = await check([address, address.toLowerCase()])
    expect(checked).toEqual({ address: lower!.address, fault: null, known, isFirstPayment: true, lookAlikes: [] })
    expect(lower!.known).toEqual(known)
    expect((await bench.owner.post(`${base()}/counterparties/${id}/archive`)).status).toBe(200)
    expect((await check([address]))[0]!.known).toBeNull()
  })

  it('shows the known address beside an address that only looks like it', async () => {
    const { address } = await supplier('Quay Services')
    const [checked] = await check([lookAlikeOf(address)])
    expect(checked).toMatchObject({ known: null, isFirstPayment: true })
    expect(checked!.lookAlikes.map(({ name, address: shown }) => [name, shown.toLowerCase()])).toEqual([
      ['Quay Services', address.toLowerCase()],
    ])
  })

  it('compares with past payments too, of the caller alone unless they read the whole vault', async () => {
    const toAddress = fakeAddress('paid once')
    await paid(toAddress)
    const alike = lookAlikeOf(toAddress)
    const [first, resembling] = await check([toAddress, alike])
    expect([first!.isFirstPayment, resembling!.isFirstPayment]).toEqual([false, true])
    expect(resembling!.lookAlikes).toEqual([{ address: toAddress.toLowerCase(), name: null }])
    expect((await check([alike], bench.vault.admin))[0]!.lookAlikes).toHaveLength(1)
    const [unknown, other] = await check([toAddress, alike], stranger)
    expect([unknown!.isFirstPayment, other!.lookAlikes]).toEqual([true, []])
  })

  it('says nothing about an address of the vault that the caller does not see', async () => {
    const { address } = await bench.fundedAddress()
    expect((await check([address]))[0]!.known).toMatchObject({ counterpartyId: null, network: 'ethereum' })
    const [hidden, alike] = await check([address, lookAlikeOf(address)], stranger)
    expect([hidden!.known, alike!.lookAlikes]).toEqual([null, []])
  })

  it('distinguishes a mistyped address from a text that is not an address, and keeps the order', async () => {
    const right = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const wrong = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'
    const items = await check([wrong, 'nonsense', right])
    expect(items.map(({ fault, address }) => [fault, address])).toEqual([
      ['wrong_checksum', null],
      ['not_an_address', null],
      [null, right],
    ])
    expect((await check([right], bench.owner, 'nowhere'))[0]!.fault).toBe('unknown_network')
  })
})
