import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, ensureGroup } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
const addresses: Record<string, string> = {}
const recipients: Record<string, string> = {}

beforeAll(async () => {
  bench = await createTransferBench()
  bench.vault.wallet.fee = '21000'
  for (const verb of ['create', 'archive']) await allowAll(bench.vault, `counterparty_${verb}`)
  addresses.rich = (await bench.fundedAddress({ eth: '1' })).id
  addresses.withoutGas = (await bench.fundedAddress()).id
  addresses.held = (await bench.fundedAddress({ eth: '1' })).id
  const hold = { subjectType: 'address', subjectId: addresses.held, reason: 'Its key is known' }
  expect((await bench.vault.admin.post('/vaults/main-vault/holds', hold)).status).toBe(201)
  recipients.unknown = bench.recipient
  recipients.archived = fakeAddress('archived')
  const party = {
    name: 'Gone',
    kind: 'company',
    addresses: [{ network: 'ethereum', address: recipients.archived }],
  }
  const created = await bench.owner.post('/vaults/main-vault/counterparties', party)
  const archived = await bench.owner.post(`/vaults/main-vault/counterparties/${created.body.id}/archive`)
  expect(archived.status).toBe(200)
  await addMember(bench.test, bench.vault, 'alone@example.org', ['alone'])
})
afterAll(() => bench.close())

const situations = fc.record({
  from: fc.constantFrom('rich', 'withoutGas', 'held'),
  to: fc.constantFrom('unknown', 'archived'),
  /** Amounts that are allowed, need votes, exceed the available balance, and are blocked. */
  amount: fc.constantFrom('1', '500', '5000', '1000000'),
  isEnabled: fc.boolean(),
  isQuorumReachable: fc.boolean(),
})

const enable = async (enabled: boolean) =>
  expect((await bench.vault.admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled })).status).toBe(200)

async function lonelyPolicy(): Promise<string> {
  const approvers = [{ kind: 'group', groupId: await ensureGroup(bench.vault, 'alone') }]
  return (await bench.policy({ code: 'lonely', effect: 'requireApproval', approvalThreshold: 2, approvers })).id
}

it('an order is accepted exactly when its preview has no blocking problem, and otherwise refused for the first one', async () => {
  const drawn = fc.sample(situations, { numRuns: 20, seed: 81 })
  const met = new Set<string>()
  for (const { from, to, amount, isEnabled, isQuorumReachable } of drawn) {
    const lonely = isQuorumReachable ? null : await lonelyPolicy()
    await enable(isEnabled)
    const order = { fromAddressId: addresses[from]!, toAddress: recipients[to]!, amount }
    const preview = await bench.owner.post('/vaults/main-vault/transfers/preview', order)
    expect(preview.status).toBe(200)
    const [problem] = preview.body.problems.filter(({ blocks }) => blocks)
    const answer = await bench.owner.post('/vaults/main-vault/transfers', order)
    expect([order, answer.body.reason]).toEqual([order, problem?.code])
    expect(answer.status === 201).toBe(problem === undefined)
    if (problem === undefined) expect((await bench.act(bench.owner, answer.body.id, 'cancel')).status).toBe(200)
    met.add(problem?.code ?? 'accepted')
    await enable(true)
    if (lonely !== null) expect((await bench.vault.admin.delete(`/policies/${lonely}`)).status).toBe(204)
  }
  expect([...met].toSorted()).toEqual(expect.arrayContaining(['accepted', 'archived', 'disabled']))
})
