import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Person, TestApp } from '../../testing/app.ts'
import { createTestApp } from '../../testing/app.ts'
import { fakeAddress } from '../../testing/fake-wallet.ts'
import { addMember, createAddress, createVaultFixture, deposit, ensureGroup, usdtContract, type VaultFixture } from '../../testing/fixtures.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { deliverDueTransfers } from './deliver.ts'
import { expireTransfers } from './expire.ts'

let test: TestApp
let vault: VaultFixture
let owner: Person
let alice: Person
let bob: Person
// biome-ignore lint/suspicious/noExplicitAny: the answer check has verified its shape.
let address: any
const recipient = fakeAddress('a supplier')

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  owner = await addMember(test, vault, 'owner@example.org', ['treasury'])
  alice = await addMember(test, vault, 'first.approver@example.org', ['approvers'])
  bob = await addMember(test, vault, 'second.approver@example.org', ['approvers'])
  await policy({ code: 'addresses', actionType: 'create_address', effect: 'allow' })
  await policy({ code: 'small', effect: 'allow', rules: amountRule({ op: 'lte', value: '100' }) })
  await policy({
    code: 'large',
    effect: 'requireApproval',
    approvalThreshold: 2,
    rules: amountRule({ op: 'gt', value: '100' }),
    approvers: [{ kind: 'group', groupId: await ensureGroup(test, vault, 'approvers') }],
  })
  await policy({ code: 'absurd', effect: 'block', blockReason: 'Nobody moves a million', rules: amountRule({ op: 'gte', value: '1000000' }) })
})
afterAll(() => test.close())

beforeEach(async () => {
  address = await createAddress(owner, { token: 'USDT' })
  await deposit(test, { address: address.address, asset: usdtContract, amount: '1000' })
  vault.wallet.down = false
  vault.wallet.swallow = false
  vault.wallet.mutateStatus = null
})

const amountRule = (value: object) => [{ conditionType: 'require', selectors: [{ selectorType: 'amount', value }] }]

async function policy(body: Record<string, unknown>): Promise<void> {
  const groupId = vault.groups.everyone
  const answer = await vault.admin.post(`/policy-groups/${groupId}/policies`, { name: body.code, actionType: 'transfer', ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
}

function order(amount: string, more: Record<string, unknown> = {}, by: Person = owner) {
  return by.post('/vaults/main-vault/transfers', { fromAddressId: address.id, toAddress: recipient, amount, ...more })
}

async function balances(token = 'USDT'): Promise<{ available: string; reserved: string }> {
  const { body } = await owner.get(`/vaults/main-vault/balances?summary=true&addressId=${address.id}&token=${token}`)
  const [total] = body.totals
  return { available: total.availableDecimal, reserved: total.reservedDecimal }
}

const read = (id: string, by: Person = owner) => by.get(`/vaults/main-vault/transfers/${id}`)
const vote = (by: Person, id: string, verb = 'approve', body?: object) => by.post(`/vaults/main-vault/transfers/${id}/${verb}`, body)

async function deliver(): Promise<void> {
  test.clock.advance(61_000)
  await deliverDueTransfers(test.deps)
}

async function expectSoundLedger(): Promise<void> {
  const { differences } = await verifyLedger(test.deps.db)
  expect(differences).toEqual([])
}

describe('a transfer', () => {
  it('is allowed, delivered, confirmed and settled with its fee', async () => {
    await deposit(test, { address: address.address, amount: '1' })
    const created = await order('40', { metadata: { paymentPurpose: 'Invoice 4711', tags: ['march'] } })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ status: 'pending', amount: '40000000', amountDecimal: '40', decisionPolicyCode: 'small', flowType: 'external' })
    expect(await balances()).toEqual({ available: '960', reserved: '40' })

    await deliver()
    vault.wallet.broadcast(created.body.id)
    await deliver()
    expect((await read(created.body.id)).body.txHash).toMatch(/^0x/)
    vault.wallet.confirm(created.body.id, { fee: '21000' })
    await deliver()

    const { body } = await read(created.body.id)
    expect(body).toMatchObject({ status: 'confirmed', fee: '21000', failureReason: null, metadata: { paymentPurpose: 'Invoice 4711', tags: ['march'] } })
    expect(body.confirmedAt).not.toBeNull()
    expect(await balances()).toEqual({ available: '960', reserved: '0' })
    expect(await balances('ETH')).toEqual({ available: '0.999999999999979', reserved: '0' })
    await expectSoundLedger()
  })
})
