import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Address, Answer, ApprovalRequest, Counterparty } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
} from '../../../testing/fixtures.ts'
import { createRandom } from '../../../testing/random.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { deliverDueTransfers } from '../delivery/deliver.ts'
import { expirePayouts } from '../payouts/payout-votes.ts'
import { expireTransfers } from '../transfers/transfer-votes.ts'

/**
 * One person has every right that one person can have: administrator, approver, owner of the addresses, with service tokens.
 * Every held subject stays held, whatever requests this person sends and in whatever order.
 */
let bench: TransferBench
let base: `/vaults/${string}`
let alone: Person
let robot: Person
let held: Person
let things: { from: Address; with: Address; supplier: Counterparty }
let transferId: string
let depositId: string
/** The holds of the second administrator, who does nothing else. */
let holdIds: string[]
let supplierAddress: string

const { runs: sequences, seed: firstSeed } = campaignOf('HOLD', { runs: 10, seed: 72 })
const callsMax = 10

beforeAll(async () => {
  bench = await createTransferBench()
  const { test, vault } = bench
  base = `/vaults/${vault.code}`
  alone = vault.admin
  const other = await addMember(test, vault, 'other.admin@example.org', ['administrators'])
  held = await addMember(test, vault, 'held@example.org', ['treasury'])
  const elsewhere = await createVaultFixture(test, { code: 'elsewhere', isLocked: false })
  await addMember(test, elsewhere, held.email)
  for (const code of ['approvers', 'treasury']) await addMember(test, vault, alone.email, [code])
  for (const action of ['counterparty_create', 'counterparty_update', 'counterparty_archive'])
    await allowAll(vault, action)
  const token = await alone.post(`${base}/service-tokens`, {
    name: 'Robot',
    groupIds: [vault.groups.administrators, bench.approversId, await ensureGroup(vault, 'treasury')],
  })
  robot = test.client({ authorization: `Bearer ${token.body.token}` }) as Person

  const from = await bench.fundedAddress({ usdt: '1000' }, alone)
  const partly = await bench.fundedAddress({ usdt: '0' }, alone)
  await deposit(test, { address: partly.address, asset: usdtContract, amount: '500' })
  supplierAddress = fakeAddress('the supplier on a list')
  const supplier = await alone.post(`${base}/counterparties`, {
    name: 'Supplier',
    kind: 'company',
    addresses: [{ network: 'ethereum', address: supplierAddress }],
  })
  things = { from, with: partly, supplier: supplier.body }
  const paying = await bench.fundedAddress({ usdt: '1000' }, alone)
  transferId = (await bench.order(paying.id, '200', {}, alone)).body.id
  depositId = (await bench.sql('select id from deposits where address_id = $1', [partly.id]))[0].id
  const subjects = {
    address: from.id,
    deposit: depositId,
    counterparty: supplier.body.id,
    transfer: transferId,
    user: held.userId,
  }
  holdIds = []
  for (const [subjectType, subjectId] of Object.entries(subjects)) {
    const { status, body } = await other.post(`${base}/holds`, { subjectType, subjectId, reason: 'Stop' })
    expect(status).toBe(201)
    holdIds.push(body.id)
  }
})
afterAll(() => bench.close())

type Random = { below(below: number): number; pick<Item>(items: readonly Item[]): Item }
/** The requests and policies that exist so far. */
type State = { requests: string[]; policies: string[] }
type Call = (random: Random, state: State) => Promise<Answer<{ reason: string }> | undefined>

let count = 0
const order = (by: Person, fromAddressId: string, toAddress: string, amount = '1') =>
  by.post(`${base}/transfers`, { fromAddressId, toAddress, amount })
const remember = (state: State, answer: Answer<{ reason: string; request: ApprovalRequest }>) => {
  if (answer.status === 202) state.requests.push(answer.body.request.id)
  return answer
}
const someone = (random: Random) => (random.below(4) === 0 ? robot : alone)

const calls: Call[] = [
  async (random, state) => {
    const id = random.pick(holdIds)
    return remember(state, await someone(random).post(`${base}/holds/${id}/release`, { reason: 'Let it go' }))
  },
  async (random, state) => {
    if (state.requests.length === 0) return undefined
    const verb = random.pick(['approve', 'approve', 'reject', 'cancel'])
    return someone(random).post(`${base}/approval-requests/${random.pick(state.requests)}/${verb}`)
  },
  async (_, state) => {
    const steps = [{ action: 'hold_release', targetId: holdIds[0], payload: { reason: 'Let it go' } }]
    return remember(state, await alone.post(`${base}/approval-requests/composite`, { steps }))
  },
  async (random, state) => {
    count += 1
    const isFree = random.below(2) === 0
    const { status, body } = await alone.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, {
      code: `mine-${count}`,
      name: 'Mine',
      actionType: random.pick(['hold_release', 'hold_release', 'transfer']),
      effect: isFree ? 'allow' : 'requireApproval',
      ...(isFree
        ? {}
        : {
            approvalThreshold: 1,
            adminBypass: true,
            allowInitiatorApproval: true,
            approvers: [{ kind: 'user', userId: alone.userId }],
          }),
    })
    if (status === 201) state.policies.push(body.id)
    return undefined
  },
  async (random, state) => {
    const [id] = state.policies.splice(0, random.below(2))
    if (id !== undefined) await alone.delete(`/policies/${id}`)
    return undefined
  },
  async (random) =>
    alone.post(`${base}/holds`, {
      subjectType: 'address',
      subjectId: random.pick([things.from.id, things.with.id]),
      reason: 'Mine',
    }),
  async (random) => order(someone(random), things.from.id, bench.recipient),
  async () => order(alone, things.with.id, bench.recipient, '100'),
  async () => order(alone, things.with.id, supplierAddress),
  async (random) => bench.act(someone(random), transferId, random.pick(['approve', 'reject', 'cancel'] as const)),
  async () =>
    alone.delete(`${base}/counterparties/${things.supplier.id}/addresses/${things.supplier.addresses[0]!.id}`),
  async () =>
    alone.patch(`${base}/counterparties/${things.supplier.id}`, {
      removeAddressIds: [things.supplier.addresses[0]!.id],
    }),
  async () => alone.delete(`${base}/counterparties/${things.supplier.id}`),
  async () =>
    alone.post(`${base}/counterparties`, {
      name: 'Twin',
      kind: 'company',
      addresses: [{ network: 'ethereum', address: supplierAddress }],
    }),
  async (random) => {
    const groupId = random.pick([bench.approversId, bench.vault.groups.administrators])
    await alone.delete(`/policy-groups/${groupId}/members/${held.userId}`)
    return alone.post(`/policy-groups/${groupId}/members`, { userId: held.userId })
  },
  async (random) =>
    alone.post(`${base}/adjustments`, {
      addressId: random.pick([things.from.id, things.with.id]),
      tokenId: bench.vault.tokens.usdt.id,
      amount: random.pick(['500', '-500']),
      reason: 'Mine',
    }),
  async () => {
    count += 1
    const row = { externalId: `mine-${count}`, fromAddressId: things.from.id, toAddress: bench.recipient, amount: '1' }
    return alone.post(`${base}/payouts`, { rows: [row] })
  },
  async () => {
    await expireTransfers(bench.test.deps)
    await expirePayouts(bench.test.deps)
    await bench.sql(`update deliveries set next_attempt_at = now() - interval '1 hour' where queue = 'hand-over'`)
    await deliverDueTransfers(bench.test.deps)
    return undefined
  },
]

const facts = async () => ({
  active: (await bench.sql('select id from holds where released_at is null and id = any($1)', [holdIds])).length,
  outgoing: Number(
    (
      await bench.sql(
        `select count(*) from operations o join transfers t on t.id = o.id
          where o.address_id = any($1) or lower(t.to_address) = lower($2)`,
        [[things.from.id, things.with.id], supplierAddress],
      )
    )[0].count,
  ),
  transfer: (
    await bench.sql('select o.status, t.phase from operations o join transfers t using (id) where id = $1', [
      transferId,
    ])
  )[0],
  from: await bench.balances(things.from.id),
  with: await bench.balances(things.with.id),
  supplier: (
    await bench.sql('select count(*) from counterparty_addresses where counterparty_id = $1', [things.supplier.id])
  )[0].count,
  heldIs: (await held.get(base)).status,
  sent: bench.vault.wallet.broadcastCount(transferId),
})

it(
  `T72 no sequence of calls by one person releases a hold: ${sequences} sequences`,
  async () => {
    await bench.endVoting([transferId], new Date(Date.now() - 86_400_000))
    const before = await facts()
    expect(before).toMatchObject({ active: 5, outgoing: 0, with: { available: '0', reserved: '500' }, heldIs: 403 })
    const outcomes = new Set<string>()
    for (let run = 0; run < sequences; run += 1) {
      const { below } = createRandom(firstSeed + run)
      const random: Random = { below, pick: (items) => items[below(items.length)]! }
      const callsCount = 1 + below(callsMax)
      const state: State = { requests: [], policies: [] }
      const sent: string[] = []
      for (let step = 0; step < callsCount; step += 1) {
        const call = random.below(calls.length)
        const answer = await calls[call]!(random, state)
        const outcome = `${answer?.status ?? ''} ${answer?.body?.reason ?? ''}`.trim()
        outcomes.add(outcome)
        sent.push(`${call}: ${outcome}`)
      }
      expect(await facts(), `seed ${firstSeed + run}: ${sent.join(', ')}`).toEqual(before)
      for (const id of state.policies) await alone.delete(`/policies/${id}`)
      await bench.sql(
        `update holds set released_at = now(), release_reason = 'the end of a sequence'
      where released_at is null and id <> all($1)`,
        [holdIds],
      )
    }
    await bench.expectSoundLedger()
  },
  600_000 + sequences * 5_000,
)
