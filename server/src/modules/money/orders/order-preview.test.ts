import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TransferPreview } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, ensureGroup, usdtContract } from '../../../testing/fixtures.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { problemCodes } from './objections.ts'

const base = '/vaults/main-vault'
const fee = '0.000000000000021'

let bench: TransferBench
let colleague: Person
let count = 0

beforeAll(async () => {
  bench = await createTransferBench()
  bench.vault.wallet.fee = '21000'
  colleague = await addMember(bench.test, bench.vault, 'colleague@example.org', ['treasury'])
  for (const verb of ['create', 'archive']) await allowAll(bench.vault, `counterparty_${verb}`)
})
afterAll(() => bench.close())

type More = { toAddress?: string; token?: string }

async function preview(addressId: string, amount: string, more: More = {}, by = bench.owner) {
  const order = { fromAddressId: addressId, toAddress: bench.recipient, amount, ...more }
  const { status, body } = await by.post(`${base}/transfers/preview`, order)
  expect([status, body.message]).toEqual([200, undefined])
  return body
}
const codesOf = ({ problems }: Pick<TransferPreview, 'problems'>): string[] => problems.map(({ code }) => code)
const newRecipient = () => fakeAddress(`recipient ${++count}`)

/** A policy that exists only while `work` runs. */
async function withPolicy(body: Record<string, unknown>, work: () => Promise<void>): Promise<void> {
  const { id } = await bench.policy(body)
  try {
    await work()
  } finally {
    expect((await bench.vault.admin.delete(`/policies/${id}`)).status).toBe(204)
  }
}

/** Expects the problem in the preview, and the refusal of the order itself. */
async function refusedFor(code: string, addressId: string, amount: string, more: More = {}): Promise<string> {
  const { problems } = await preview(addressId, amount, more)
  const named = problems.find((problem) => problem.code === code)
  expect([code, named?.blocks]).toEqual([code, true])
  const { status, body } = await bench.order(addressId, amount, more)
  expect(status).toBe(code === 'blocked_by_policy' || code === 'no_policy_allows' ? 403 : 409)
  expect(body.reason).toBe(code)
  expect([body.message, body.details]).toContain(named!.message)
  return named!.message
}

describe('a preview names as the reason of a refusal', () => {
  it('nothing for an accepted order', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    for (const amount of ['100', '101', '1000']) {
      expect((await preview(id, amount)).problems).toEqual([])
      const { status, body } = await bench.order(id, amount)
      expect([amount, status]).toEqual([amount, 201])
      expect((await bench.act(bench.owner, body.id, 'cancel')).status).toBe(200)
    }
  })

  it('too little available, of the token or of the coin', async () => {
    const { id } = await bench.fundedAddress({ usdt: '10', eth: '1' })
    await refusedFor('insufficient_funds', id, '10.000001')
    expect(codesOf(await preview(id, '10'))).toEqual([])
    expect(codesOf(await preview(id, '2', { token: 'ETH' }))).toEqual(['insufficient_funds'])
    await refusedFor('insufficient_funds', id, '2', { token: 'ETH' })
  })

  it('the reservations of other orders', async () => {
    const { id } = await bench.fundedAddress({ usdt: '50', eth: '1' })
    expect((await bench.order(id, '20')).status).toBe(201)
    const { available, remaining, problems } = await preview(id, '30')
    expect([available, remaining.token!.amount, problems]).toEqual(['30000000', '0', []])
    await refusedFor('insufficient_funds', id, '30.000001')
  })

  it('a disabled token', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    const usdt = `/tokens/${bench.vault.tokens.usdt.id}` as const
    expect((await bench.vault.admin.patch(usdt, { enabled: false })).status).toBe(200)
    try {
      expect(await refusedFor('disabled', id, '1')).toBe('The token USDT is disabled')
    } finally {
      expect((await bench.vault.admin.patch(usdt, { enabled: true })).status).toBe(200)
    }
  })

  it('a hold of the address', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    const hold = { subjectType: 'address', subjectId: id, reason: 'Its key is known' }
    expect((await bench.vault.admin.post(`/vaults/${bench.vault.code}/holds`, hold)).status).toBe(201)
    expect(await refusedFor('held', id, '1')).toContain(`on the address ${id} stops this`)
  })

  it('a hold of the address of the recipient, without its id', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    const { id: heldId, address: toAddress } = await bench.fundedAddress({}, bench.firstApprover)
    const hold = { subjectType: 'address', subjectId: heldId, reason: 'Its key is known' }
    const placed = await bench.vault.admin.post(`/vaults/${bench.vault.code}/holds`, hold)
    expect(placed.status).toBe(201)
    const details = 'A hold on the address of the recipient stops this'
    expect(await refusedFor('held', id, '1', { toAddress })).toBe(details)
    const row = { fromAddressId: id, toAddress, amount: '1', externalId: `row-${id}` }
    const { body } = await bench.owner.post(`${base}/payouts/preview`, { rows: [row] })
    expect(body.problems).toContainEqual({ code: 'held', row: 1, message: `rows.0.toAddress ${details}` })
    expect((await bench.owner.get(`${base}/holds/${placed.body.id}`)).status).toBe(404)
  })

  it('an archived counterparty, before other faults of the order', async () => {
    const { id } = await bench.fundedAddress({ usdt: '1', eth: '1' })
    const toAddress = newRecipient()
    const party = { name: 'Gone', kind: 'company', addresses: [{ network: 'ethereum', address: toAddress }] }
    const created = await bench.owner.post(`${base}/counterparties`, party)
    expect(created.status).toBe(201)
    expect(codesOf(await preview(id, '1', { toAddress }))).toEqual([])
    expect((await bench.owner.post(`${base}/counterparties/${created.body.id}/archive`)).status).toBe(200)
    expect(await refusedFor('archived', id, '1', { toAddress })).toContain('Gone')
    expect(codesOf(await preview(id, '2', { toAddress }))).toEqual(['archived', 'insufficient_funds'])
  })

  it('a policy that blocks, with its reason, and the lack of an allowing policy', async () => {
    const { id } = await bench.fundedAddress({ usdt: '2000000', eth: '1' })
    expect(await refusedFor('blocked_by_policy', id, '1000000')).toBe('Nobody moves a million')
    const { body } = await bench.vault.admin.get(`${base}/policies?limit=100`)
    const small = body.items.find(({ code }) => code === 'small')
    const enable = async (enabled: boolean) =>
      expect((await bench.vault.admin.patch(`/policies/${small!.id}`, { enabled })).status).toBe(200)
    await enable(false)
    try {
      await refusedFor('no_policy_allows', id, '10')
    } finally {
      await enable(true)
    }
  })

  it('a quorum that cannot be reached, for each policy', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    await addMember(bench.test, bench.vault, 'alone@example.org', ['alone'])
    const approvers = [{ kind: 'group', groupId: await ensureGroup(bench.vault, 'alone') }]
    const lonely = { effect: 'requireApproval', approvalThreshold: 2, approvers }
    await withPolicy({ code: 'lonely', ...lonely }, async () => {
      const message = await refusedFor('quorum_unreachable', id, '10')
      expect(message).toBe('Policy lonely needs 2 approvals, and only 1 can vote')
      await withPolicy({ code: 'also-lonely', ...lonely, approvalThreshold: 3 }, async () => {
        const { problems } = await preview(id, '10')
        expect(problems.map(({ message }) => message.split(' ')[1])).toEqual(['also-lonely', 'lonely'])
      })
    })
  })
})

it('T17 a preview names an address that spent funds which the chain took back', async () => {
  const { id, address } = await bench.fundedAddress({ eth: '1', usdt: '0' })
  const tx = { network: 'ethereum', asset: usdtContract, amount: '5', toAddress: address, txHash: fakeTxHash('orphan') }
  await bench.test.anonymous.post('//webhooks/wallet', { kind: 'TOPUP', tx })
  expect((await bench.order(id, '3')).status).toBe(201)
  await bench.test.anonymous.post('//webhooks/wallet', { kind: 'DEPOSIT_ORPHANED', tx })
  expect(await refusedFor('address_exposed', id, '0.1', { token: 'ETH' })).toContain(id)
})

describe('a preview names as a problem of an accepted order', () => {
  it('too little of the coin for the estimated fee, to the last unit', async () => {
    const without = await bench.fundedAddress()
    const { problems, remaining } = await preview(without.id, '10')
    const message = `The address lacks ${fee} ETH for the network fee of the transfer`
    expect(problems).toEqual([{ code: 'insufficient_gas', message, blocks: true }])
    expect(remaining.nativeCoin).toBeNull()
    expect(await refusedFor('insufficient_gas', without.id, '10')).toBe(message)
    const exact = await bench.fundedAddress({ eth: fee })
    const enough = await preview(exact.id, '10')
    expect([enough.problems, enough.remaining.nativeCoin]).toEqual([
      [],
      { amount: '0', amountDecimal: '0', asset: 'ETH' },
    ])
    expect((await bench.order(exact.id, '10')).status).toBe(201)
  })

  it('too little of the coin for its own fee', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    const all = await preview(id, '1', { token: 'ETH' })
    expect([codesOf(all), all.remaining.token!.amount, all.remaining.nativeCoin]).toEqual([
      ['insufficient_gas'],
      '0',
      null,
    ])
    expect(await refusedFor('insufficient_gas', id, '1', { token: 'ETH' })).toContain(`lacks ${fee} ETH`)
    const { problems, remaining } = await preview(id, '0.999999999999979', { token: 'ETH' })
    expect(problems).toEqual([])
    expect([remaining.token!.amount, remaining.nativeCoin!.amount]).toEqual(['21000', '0'])
  })

  it('a wallet service that fails or does not answer', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    const { wallet } = bench.vault
    const failing = async () => {
      const { problems, fee, remaining, decision } = await preview(id, '10')
      expect([fee, remaining.nativeCoin, remaining.token!.amountDecimal]).toEqual([null, null, '990'])
      expect([decision.effect, problems.length, problems[0]!.blocks]).toEqual(['allow', 1, false])
      expect(problems[0]!.message).not.toContain('127.0.0.1')
      return problems[0]!.code
    }
    wallet.down = 'error'
    expect(await failing()).toBe('wallet_service_failed')
    wallet.down = false
    await wallet.whileStopped(async () => {
      expect(await failing()).toBe('wallet_service_silent')
      expect((await bench.order(id, '10')).status).toBe(201)
    })
  })
})

describe('the remainder in a preview', () => {
  it('is exact, of the token and of the coin', async () => {
    const { id } = await bench.fundedAddress({ usdt: '1000.000001', eth: '1.000000000000000001' })
    const { available, remaining } = await preview(id, '0.000003')
    expect(available).toBe('1000000001')
    expect(remaining).toEqual({
      token: { amount: '999999998', amountDecimal: '999.999998', asset: 'USDT' },
      nativeCoin: { amount: '999999999999979001', amountDecimal: '0.999999999999979001', asset: 'ETH' },
    })
    const short = await preview(id, '1000.000002')
    expect([short.remaining.token, short.remaining.nativeCoin!.amount]).toEqual([null, '999999999999979001'])
  })
})

describe('the voters in a preview', () => {
  const approversOf = async (addressId: string, by = bench.owner) => {
    const [requirement] = (await preview(addressId, '500', {}, by)).decision.requirements
    const emails = requirement!.approvers.map(({ email }) => email)
    expect(requirement!.approversCount).toBe(emails.length)
    return emails
  }
  const three = ['first.approver@example.org', 'second.approver@example.org', 'third.approver@example.org']

  it('are the voters of the placed order', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    expect((await bench.firstApprover.patch('/users/me', { name: 'Zoe' })).status).toBe(200)
    const [requirement] = (await preview(id, '500')).decision.requirements
    expect(requirement).toMatchObject({ policyCode: 'large', threshold: 2, bypassed: false, approversCount: 3 })
    const names = requirement!.approvers.map(({ name }) => name)
    expect(names).toEqual(['second.approver', 'third.approver', 'Zoe'])
    const { body } = await bench.order(id, '500')
    const users = body.approvers.map(({ user }) => user)
    expect(requirement!.approvers).toHaveLength(users.length)
    expect(requirement!.approvers).toEqual(expect.arrayContaining(users))
  })

  it('are empty for an order that needs no votes', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    expect((await preview(id, '10')).decision.requirements).toEqual([])
    expect((await preview(id, '1000000')).decision.requirements).toEqual([])
  })

  it('exclude users who are disabled, who left, or who order, unless the policy permits them', async () => {
    const ownAddress = await bench.fundedAddress({ eth: '1' }, bench.secondApprover)
    expect((await approversOf(ownAddress.id, bench.secondApprover)).toSorted()).toEqual([three[0], three[2]])
    const members = `/policy-groups/${bench.approversId}/members` as const
    expect((await bench.vault.admin.delete(`${members}/${bench.thirdApprover.userId}`)).status).toBe(204)
    try {
      const { problems } = await preview(ownAddress.id, '500', {}, bench.secondApprover)
      expect(problems.map(({ message }) => message)).toEqual(['Policy large needs 2 approvals, and only 1 can vote'])
    } finally {
      expect((await bench.vault.admin.post(members, { userId: bench.thirdApprover.userId })).status).toBe(201)
    }
    const { userId } = bench.firstApprover
    await bench.sql('update users set disabled_at = now() where id = $1', [userId])
    expect(await approversOf(ownAddress.id, bench.secondApprover)).toEqual([three[2]])
    await bench.sql('update users set disabled_at = null where id = $1', [userId])
    const policy = { code: 'self', effect: 'requireApproval', allowInitiatorApproval: true, approvalThreshold: 1 }
    const approvers = [{ kind: 'group', groupId: bench.approversId }]
    await withPolicy({ ...policy, approvers, rules: amountRule({ op: 'lte', value: '100' }) }, async () => {
      const [requirement] = (await preview(ownAddress.id, '10', {}, bench.secondApprover)).decision.requirements
      expect(requirement!.approvers.map(({ email }) => email).toSorted()).toEqual(three)
    })
  })

  it('are empty where the vote of an administrator is waived', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' }, bench.vault.admin)
    const waivable = { code: 'waivable', effect: 'requireApproval', adminBypass: true, approvalThreshold: 100 }
    await withPolicy({ ...waivable, rules: amountRule({ op: 'lte', value: '100' }) }, async () => {
      const { decision, problems } = await preview(id, '10', {}, bench.vault.admin)
      expect([decision.effect, problems]).toEqual(['allow', []])
      expect(decision.requirements).toMatchObject([{ bypassed: true, approversCount: 0, approvers: [] }])
    })
  })

  it('are counted in full and named up to a limit', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    const crowdId = await ensureGroup(bench.vault, 'crowd')
    await bench.sql(
      `with person as (
         insert into users (id, email, name, created_at, updated_at)
         select 'cmi8h2k1p0a1b2c3d4e5f6' || lpad(i::text, 3, '0'), 'crowd' || i || '@example.org',
           'Person ' || lpad(i::text, 3, '0'), now(), now()
         from generate_series(1, 101) i returning id)
       insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
       select $1, id, $2, id, now() from person`,
      [bench.vault.id, crowdId],
    )
    const approvers = [{ kind: 'group', groupId: crowdId }]
    await withPolicy({ code: 'crowd', effect: 'requireApproval', approvalThreshold: 100, approvers }, async () => {
      const { problems, decision } = await preview(id, '10')
      const { approversCount, approvers: named } = decision.requirements[0]!
      expect([problems, approversCount, named.length]).toEqual([[], 101, 100])
      expect([named[0]!.name, named[99]!.name]).toEqual(['Person 001', 'Person 100'])
    })
  })
})

describe('a first payment', () => {
  const isFirst = async (addressId: string, toAddress: string, by?: Person) =>
    (await preview(addressId, '1', { toAddress }, by)).isFirstPayment

  it('T40 is marked until a payment of the caller was confirmed; payments of others do not count', async () => {
    const [ownAddress, otherAddress] = [
      await bench.fundedAddress({ eth: '1' }),
      await bench.fundedAddress({ eth: '1' }, colleague),
    ]
    const ofAdmin = await bench.fundedAddress({ eth: '1' }, bench.vault.admin)
    const toAddress = newRecipient()
    const all = async () => [
      await isFirst(ownAddress.id, toAddress),
      await isFirst(otherAddress.id, toAddress, colleague),
      await isFirst(ofAdmin.id, toAddress, bench.vault.admin),
    ]
    expect(await all()).toEqual([true, true, true])
    const { body } = await bench.order(ownAddress.id, '1', { toAddress })
    expect(await all()).toEqual([true, true, true])
    await bench.deliver()
    bench.vault.wallet.confirm(body.id)
    await bench.deliver()
    expect(await all()).toEqual([false, true, false])
    expect(await isFirst(ownAddress.id, newRecipient())).toBe(true)
  })
})

describe('the value in USD', () => {
  it('is null without a rate, and exact with one', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    expect((await preview(id, '10')).usdValue).toBeNull()
    const rate = { usdRate: '0.9995', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
    expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(201)
    expect((await preview(id, '10')).usdValue).toBe('10.00')
    expect((await preview(id, '100.11')).usdValue).toBe('100.06')
    expect((await preview(id, '0.1', { token: 'ETH' })).usdValue).toBeNull()
    bench.test.clock.advance(16 * 60_000)
    expect((await preview(id, '10')).usdValue).toBeNull()
  })
})

it('the list of problems is complete and each of them is tested here', () => {
  expect(problemCodes.toSorted()).toEqual([
    'above_max_fee',
    'address_exposed',
    'archived',
    'blocked_by_policy',
    'disabled',
    'held',
    'insufficient_funds',
    'insufficient_gas',
    'no_policy_allows',
    'quorum_unreachable',
    'wallet_service_failed',
    'wallet_service_silent',
  ])
})
