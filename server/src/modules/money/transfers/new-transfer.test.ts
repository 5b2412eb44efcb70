import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import { allowAll } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

/** The answer to an order is made from the written values, without reading them again. */
describe('the answer to an order equals the transfer that is read afterwards', () => {
  let bench: TransferBench
  let address: Address

  beforeAll(async () => {
    bench = await createTransferBench()
    await allowAll(bench.vault, 'transfer')
    await allowAll(bench.vault, 'counterparty_create')
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  })
  afterAll(() => bench.close())

  async function isReadAs(more: Record<string, unknown>) {
    const answer = await bench.order(address.id, '1.5', more)
    expect(answer.status).toBe(201)
    const { decision: _, recipient: __, holds, isExposed, ...read } = await bench.read(answer.body.id)
    expect(answer.body).toEqual(read)
    expect({ holds, isExposed }).toEqual({ holds: [], isExposed: false })
    return answer.body
  }

  it('of a plain order', () => isReadAs({}))

  it('with a fee level, a limit, tags, a purpose and a note', () =>
    isReadAs({
      feeLevel: 'high',
      maxFee: '4200000000000000',
      metadata: { tags: ['march'], paymentPurpose: 'Invoice 4711', note: 'Agreed' },
    }))

  it('with a category', async () => {
    const open = { viewScope: 'owner_only', assignScope: 'vault_members', editScope: 'vault_members' }
    const rent = { key: 'rent', name: 'Rent', appliesTo: 'both', ...open }
    const made = await bench.vault.admin.post('/vaults/main-vault/operation-categories', rent)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect((await isReadAs({ metadata: { category: 'rent' } })).metadata.category).toBe('rent')
  })

  it('to an address of the vault, which only members with access see', async () => {
    const { id, address: toAddress } = await bench.fundedAddress()
    expect(await isReadAs({ toAddress })).toMatchObject({ toAddressId: id, flowType: 'internal' })
    const hidden = await bench.fundedAddress({}, bench.vault.admin)
    expect(await isReadAs({ toAddress: hidden.address })).toMatchObject({ toAddressId: null, flowType: 'internal' })
  })

  it('valued in USD', async () => {
    const rate = { usdRate: '0.99950', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
    expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(201)
    expect((await isReadAs({})).usdValue).toBe('1.50')
  })

  it('to a counterparty', async () => {
    const addresses = [{ network: 'ethereum', address: bench.recipient }]
    const supplier = { name: 'Supplier', kind: 'company', addresses }
    const { body, status } = await bench.owner.post('/vaults/main-vault/counterparties', supplier)
    expect([status, body]).toEqual([201, expect.anything()])
    expect((await isReadAs({})).counterparty).toEqual({ id: body.id, name: 'Supplier', kind: 'company' })
  })

  it('that waits for votes of a group and of people', async () => {
    const group = { kind: 'group', groupId: bench.approversId, threshold: 1 }
    const person = { kind: 'user', userId: bench.vault.admin.userId }
    const policy = { actionType: 'transfer', effect: 'allow', rules: [] }
    await bench.policy({ ...policy, code: 'b', name: 'B', approvalThreshold: 2, approvers: [group, person] })
    await bench.policy({
      ...policy,
      code: 'a',
      name: 'A',
      approvalThreshold: 1,
      approvers: [person],
      adminBypass: true,
    })
    const { approvalRequirements, approvers } = await isReadAs({})
    expect(approvalRequirements).toHaveLength(2)
    expect(approvers.length).toBeGreaterThan(2)
  })
})
