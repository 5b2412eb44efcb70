import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, ensureGroup } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let stranger: Person
let source: Address
let count = 0
const blocks: string[] = []

beforeAll(async () => {
  bench = await createTransferBench()
  await allowAll(bench.vault, 'counterparty_create')
  await allowAll(bench.vault, 'counterparty_update')
  stranger = await addMember(bench.test, bench.vault, 'stranger@example.org', ['treasury'])
  source = await bench.fundedAddress({ eth: '5' })
})
afterAll(() => bench.close())
afterEach(async () => {
  for (const id of blocks.splice(0)) await bench.vault.admin.delete(`/policies/${id}`)
})

const blockOn = async (selectorType: string, value: unknown) => {
  const rules = [{ conditionType: 'require', selectors: [{ selectorType, value }] }]
  blocks.push((await bench.policy({ code: `block-${++count}`, effect: 'block', rules })).id)
}
const statusOf = async (toAddress: string, by?: Person, from = source.id) =>
  (await bench.order(from, '1', { toAddress }, by)).status
const addSupplier = async (address: string) => {
  const body = { name: `Supplier ${++count}`, kind: 'company', addresses: [{ network: 'ethereum', address }] }
  const answer = await bench.owner.post('/vaults/main-vault/counterparties', body)
  expect(answer.status).toBe(201)
  return answer.body
}
const pay = async (toAddress: string) => {
  const { status, body } = await bench.order(source.id, '1', { toAddress })
  expect(status).toBe(201)
  await bench.deliver()
  bench.vault.wallet.confirm(body.id)
  await bench.deliver()
  expect((await bench.read(body.id)).status).toBe('confirmed')
}
const lookAlikeOf = (address: string) =>
  `0x${address.slice(2, 6)}${fakeTxHash(`poison ${++count}`).slice(2, 34)}${address.slice(-4)}`.toLowerCase()
const factsOf = async (id: string) => {
  const [{ facts }] = await bench.sql(`select decision -> 'facts' as facts from transfers where id = $1`, [id])
  return facts
}

describe('destinationAgeHours', () => {
  it('T34 T65 is the age of the address, however old its counterparty is, and begins again when the address is added again', async () => {
    const [first, fresh] = [fakeAddress('an old address'), fakeAddress('a fresh address')]
    const supplier = await addSupplier(first)
    bench.test.clock.advance(48 * 3_600_000)
    const addresses = `/vaults/main-vault/counterparties/${supplier.id}/addresses` as const
    const added = await bench.owner.post(addresses, { network: 'ethereum', address: fresh })
    expect(added.status).toBe(201)
    await blockOn('destinationAgeHours', { op: 'lt', value: '24' })
    expect([await statusOf(first), await statusOf(fresh)]).toEqual([201, 403])
    // A recipient outside of the address book has no age, and a block in doubt blocks.
    expect(await statusOf(fakeAddress('nobody knows it'))).toBe(403)
    bench.test.clock.advance(24 * 3_600_000)
    expect(await statusOf(fresh)).toBe(201)
    const { body } = await bench.owner.get(`/vaults/main-vault/counterparties/${supplier.id}`)
    const old = body.addresses.find(({ address }) => address.toLowerCase() === first.toLowerCase())
    expect((await bench.owner.delete(`${addresses}/${old!.id}`)).status).toBeLessThan(300)
    expect((await bench.owner.post(addresses, { network: 'ethereum', address: first })).status).toBe(201)
    expect(await statusOf(first)).toBe(403)
  })

  it('is recorded with the decision', async () => {
    const address = fakeAddress('an address with a date')
    const supplier = await addSupplier(address)
    const { body } = await bench.order(source.id, '1', { toAddress: address })
    expect(await factsOf(body.id)).toMatchObject({
      destinationAddedAt: supplier.addresses[0]!.createdAt,
      ...{ isFirstPayment: true, isLookAlike: false, initiatorKind: 'person' },
    })
    const unknown = await bench.order(source.id, '1', { toAddress: fakeAddress('an address without a date') })
    expect(await factsOf(unknown.body.id)).toMatchObject({ destinationAddedAt: null })
  })
})

describe('firstPaymentToDestination', () => {
  it('T34 ends when a transfer of the vault by any initiator is confirmed', async () => {
    const known = fakeAddress('paid before')
    await pay(known)
    const pending = fakeAddress('ordered before')
    expect(await statusOf(pending)).toBe(201)
    await blockOn('firstPaymentToDestination', true)
    expect([await statusOf(known), await statusOf(pending)]).toEqual([201, 403])
    const strangerAddress = await bench.fundedAddress({}, stranger)
    expect(await statusOf(known, stranger, strangerAddress.id)).toBe(201)
    expect(await statusOf(fakeAddress('never paid'), stranger, strangerAddress.id)).toBe(403)
  })
})

describe('addressLookAlike', () => {
  it('T21 compares with all addresses that the vault knows, also with those hidden from the initiator', async () => {
    const hidden = fakeAddress('paid by the owner alone')
    await pay(hidden)
    const supplier = fakeAddress('a supplier with a double')
    await addSupplier(supplier)
    await blockOn('addressLookAlike', true)
    const strangerAddress = await bench.fundedAddress({}, stranger)
    for (const address of [hidden, supplier, source.address]) {
      expect(await statusOf(lookAlikeOf(address), stranger, strangerAddress.id)).toBe(403)
      expect(await statusOf(address, stranger, strangerAddress.id)).toBe(201)
    }
    expect(await statusOf(fakeAddress('like nobody'))).toBe(201)
  })

  it('T21 is checked again by the last vote', async () => {
    await blockOn('addressLookAlike', true)
    const supplier = fakeAddress('comes into the book later')
    const { body } = await bench.order(source.id, '101', { toAddress: lookAlikeOf(supplier) })
    expect(body.status).toBe('awaiting_approval')
    expect((await bench.act(bench.firstApprover, body.id, 'approve')).status).toBe(200)
    await addSupplier(supplier)
    const last = await bench.act(bench.secondApprover, body.id, 'approve')
    expect([last.status, last.body.reason]).toEqual([409, 'blocked_by_policy_now'])
  })

  it('T21 ignores addresses of another vault', async () => {
    await blockOn('addressLookAlike', true)
    const foreign = fakeAddress('known to another vault')
    await bench.sql(`insert into paid_recipients (vault_id, user_id, address_key) values ('another vault', $1, $2)`, [
      bench.owner.userId,
      foreign.toLowerCase(),
    ])
    expect(await statusOf(lookAlikeOf(foreign))).toBe(201)
    expect(
      (
        await bench.owner.post('/vaults/main-vault/transfers/preview', {
          ...{ fromAddressId: source.id, toAddress: foreign, amount: '1' },
        })
      ).body.isFirstPayment,
    ).toBe(true)
  })
})

it('the signs of the recipient are shown only to voters on the transfer', async () => {
  const [known, fresh] = [fakeAddress('paid by somebody'), fakeAddress('paid by nobody')]
  await pay(known)
  const recipientFor = async (reader: Person, toAddress: string) => {
    const { body } = await bench.order(source.id, '101', { toAddress })
    expect(body).toMatchObject({ status: 'awaiting_approval' })
    const path = `/vaults/main-vault/transfers/${body.id}` as const
    const { recipient } = (await reader.get(path)).body
    expect((await bench.owner.post(`${path}/cancel`, {})).status).toBe(200)
    expect((await reader.get(path)).body.recipient).toBe(null)
    return recipient
  }
  for (const reader of [bench.firstApprover, bench.vault.admin]) {
    expect(await recipientFor(reader, known)).toMatchObject({ isFirstPayment: false, isLookAlike: false })
    expect(await recipientFor(reader, fresh)).toMatchObject({ isFirstPayment: true, isLookAlike: false })
    expect(await recipientFor(reader, lookAlikeOf(known))).toMatchObject({ isFirstPayment: true, isLookAlike: true })
  }
  // Payments of others are hidden from a member who orders, also from one who may vote on the transfer.
  expect(await recipientFor(bench.owner, known)).toBe(null)
  const policy = await bench.policy({
    ...{ code: 'initiator-may', effect: 'requireApproval', approvalThreshold: 1, allowInitiatorApproval: true },
    ...{ rules: [], approvers: [{ kind: 'user', userId: bench.owner.userId }] },
  })
  blocks.push(policy.id)
  expect(await recipientFor(bench.owner, known)).toBe(null)
  expect(await recipientFor(bench.firstApprover, known)).toMatchObject({ isFirstPayment: false, isLookAlike: false })
})

it('initiatorKind distinguishes services from people', async () => {
  const maker = { name: 'Payroll robot', groupIds: [await ensureGroup(bench.vault, 'treasury')] }
  const { status, body } = await bench.vault.admin.post('/vaults/main-vault/service-tokens', maker)
  expect([status, body.message]).toEqual([201, undefined])
  const robot = {
    ...bench.test.client({ authorization: `Bearer ${body.token}` }),
    token: '',
    email: '',
    userId: body.userId,
  }
  const grant = { subjectType: 'user', subjectId: body.userId, canView: true, canTransfer: true }
  expect((await bench.owner.post(`/vaults/main-vault/addresses/${source.id}/grants`, grant)).status).toBe(201)
  expect(await statusOf(bench.recipient, robot)).toBe(201)
  await blockOn('initiatorKind', 'service')
  expect([await statusOf(bench.recipient, robot), await statusOf(bench.recipient)]).toEqual([403, 201])
})
