import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Address, Answer } from '../../../testing/answer.ts'
import type { Client, Person } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, usdtContract } from '../../../testing/fixtures.ts'
import { createRandom } from '../../../testing/random.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

const { runs, seed: firstSeed } = campaignOf('RESOLUTION', { runs: 10, seed: 1 })
const callsPerRun = 6

let bench: TransferBench
/** The one person: an administrator, who may change policies and memberships alone. */
let alone: Person
/** The other administrator, who does nothing. */
let other: Person
/** A service of the one person. */
let service: Client
let address: Address
let stuckId: string
let forgottenId: string
/** A transaction that pays exactly the halted transfer, so that every resolution has a proof. */
const paying = fakeTxHash('it was paid')
const requestIds: string[] = []
/** The policies of the current sequence. The policies of thousands of sequences would all be asked for votes. */
const policyIds: string[] = []

beforeAll(async () => {
  bench = await createTransferBench({ RATE_LIMIT_PER_MINUTE: '0' })
  const { vault, test } = bench
  alone = vault.admin
  other = await addMember(test, vault, 'other.admin@example.org', ['administrators'])
  const made = await alone.post(`/vaults/${vault.code}/service-tokens`, {
    name: 'mine',
    groupIds: [vault.groups.administrators],
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  service = test.client({ authorization: `Bearer ${made.body.token}` })
  address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  const ids: string[] = []
  for (const amount of ['40', '30']) {
    ids.push((await bench.order(address.id, amount)).body.id)
    await bench.deliver()
  }
  ;[stuckId, forgottenId] = ids as [string, string]
  vault.wallet.mutateStatus = (id, status) => (id === stuckId ? { ...status, amount: '1' } : status)
  vault.wallet.forget(forgottenId)
  await bench.deliver()
  vault.wallet.mutateStatus = null
  const payment = { index: 0, fromAddress: address.address, toAddress: bench.recipient, contractAddress: usdtContract }
  vault.wallet.mine({ hash: paying, from: address.address, payments: [{ ...payment, amount: '40000000' }] })
})
afterAll(() => bench.close())

const base = () => `/vaults/${bench.vault.code}` as const

type Call = (pick: <Item>(items: readonly Item[]) => Item) => Promise<Answer | undefined>

const calls: Call[] = [
  async (pick) => {
    const body = pick([
      { outcome: 'release' },
      { outcome: 'resume' },
      { outcome: 'settle', txHash: paying },
      { outcome: 'settle', txHash: fakeTxHash('another') },
    ])
    const answer = await pick([alone, service]).post(`${base()}/transfers/${pick([stuckId, forgottenId])}/resolve`, {
      reason: 'I say so',
      ...body,
    })
    if (answer.status === 202) requestIds.push(answer.body.request.id)
    return answer
  },
  async (pick) => {
    const id = pick(requestIds.length === 0 ? ['none'] : requestIds.slice(-5))
    return pick([alone, service]).post(
      `${base()}/approval-requests/${id}/${pick(['approve', 'approve', 'reject', 'cancel'])}`,
      {},
    )
  },
  async (pick) => {
    const groupId = pick([bench.vault.groups.everyone, bench.vault.groups.administrators])
    const answer = await alone.post(`/policy-groups/${groupId}/policies`, {
      code: `mine-${requestIds.length}-${Math.trunc(performance.now())}`,
      name: 'Only me',
      actionType: 'transfer_resolve',
      effect: pick(['allow', 'requireApproval']),
      adminBypass: pick([true, false]),
      allowInitiatorApproval: pick([true, false]),
      approvalThreshold: pick([0, 1]),
      approvers: pick([[], [{ kind: 'user', userId: alone.userId }]]),
    })
    if (answer.status === 201) policyIds.push(answer.body.id)
    return answer
  },
  async (pick) =>
    alone.post(`${base()}/transfers/${pick([stuckId, forgottenId])}/${pick(['cancel', 'approve', 'reject'])}`, {}),
  async (pick) => {
    const members = `/policy-groups/${bench.vault.groups.administrators}/members` as const
    return pick([true, false])
      ? alone.delete(`${members}/${other.userId}`)
      : alone.post(members, { userId: other.userId })
  },
  async (pick) => {
    const { wallet } = bench.vault
    pick([
      () => wallet.fail(stuckId, 'REVERTED: so it is'),
      () => Object.assign(wallet.transfer(stuckId)!, { status: 'queued', failureReason: null }),
      () => Object.assign(wallet.transfer(stuckId)!, { status: 'broadcast', txHash: fakeTxHash(stuckId) }),
    ])()
    return undefined
  },
]

it(
  'no sequence of calls by one person settles, releases or resumes anything',
  async () => {
    const before = await bench.balances(address.id)
    const statuses: Record<number, number> = {}
    for (let run = 0; run < runs; run += 1) {
      const random = createRandom(firstSeed + run)
      const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)]!
      for (let n = 0; n < callsPerRun; n += 1) {
        const answer = await pick(calls)(pick)
        if (answer === undefined) continue
        expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      }
      expect(await bench.balances(address.id), `seed ${firstSeed + run}`).toEqual(before)
      const rows = await bench.sql(
        `select count(*)::int as n from audit_records where target_id = any($1)
       and action in ('transfer.confirmed', 'transfer.failed', 'transfer.cancelled', 'transfer.resumed')`,
        [[stuckId, forgottenId]],
      )
      expect(rows[0].n, `seed ${firstSeed + run}`).toBe(0)
      const applied = await bench.sql(`select id from approval_requests where status = 'applied'`)
      expect(applied, `seed ${firstSeed + run}`).toEqual([])
      for (const id of policyIds.splice(0)) await alone.delete(`/policies/${id}`)
    }
    // The sequences reached the relevant states: requests were opened, and votes were refused.
    expect(statuses[202]).toBeGreaterThan(0)
    expect(statuses[403]).toBeGreaterThan(0)
    await bench.expectSoundLedger()
  },
  // A nightly run shares its machine.
  180_000 + 2_000 * runs,
)

it('the sequences succeed with a second person', async () => {
  const members = `/policy-groups/${bench.vault.groups.administrators}/members` as const
  await alone.post(members, { userId: other.userId })
  const policies = await bench.sql(`select id from policies where action_type = 'transfer_resolve'`)
  for (const { id } of policies) await alone.delete(`/policies/${id}`)
  const response = await alone.post(`${base()}/transfers/${stuckId}/resolve`, {
    outcome: 'settle',
    txHash: paying,
    reason: 'It was paid',
  })
  expect(response.status, JSON.stringify(response.body)).toBe(202)
  const voted = await other.post(`${base()}/approval-requests/${response.body.request.id}/approve`, {})
  expect([voted.status, voted.body.status]).toEqual([200, 'applied'])
})
