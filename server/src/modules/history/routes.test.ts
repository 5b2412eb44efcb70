import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../../testing/app.ts'
import { fakeTxHash } from '../../testing/fake-wallet.ts'
import {
  addMember,
  createAddress,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
} from '../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../testing/transfer-bench.ts'

let bench: TransferBench
let members = 0

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

type Item = Record<string, unknown> & { id: string; createdAt: string }
const history = (query: string, by: Person) => by.get(`/vaults/main-vault/history?${query}`)
const idsOf = async (query: string, by: Person): Promise<string[]> => {
  const { status, body } = await history(query, by)
  expect([query, status]).toEqual([query, 200])
  return body.items.map((item: Item) => item.id)
}

/** Somebody with nothing in their history yet. */
async function newcomer(): Promise<Person> {
  members += 1
  return addMember(bench.test, bench.vault, `newcomer.${members}@example.org`, ['treasury'])
}

async function addressOf(person: Person, usdt = '1000') {
  const address = await createAddress(person, { token: 'USDT' })
  const { body } = await deposit(bench.test, { address: address.address, asset: usdtContract, amount: usdt })
  return { address, depositId: body.depositId as string }
}

const ordered = async (person: Person, addressId: string, amount: string, more = {}): Promise<string> => {
  const { status, body } = await bench.order(addressId, amount, more, person)
  expect(status).toBe(201)
  return body.id
}

describe('the feed', () => {
  it('holds transfers and deposits, newest first, each with its side', async () => {
    const person = await newcomer()
    const { address, depositId } = await addressOf(person)
    const id = await ordered(person, address.id, '40', {
      metadata: { paymentPurpose: 'Invoice 4711', tags: ['march'] },
    })
    const { body } = await history('', person)
    expect(body.nextCursor).toBeNull()
    expect(body.items).toMatchObject([
      {
        id,
        direction: 'out',
        operationType: 'transfer',
        status: 'pending',
        amount: '40000000',
        amountDecimal: '40',
        asset: 'USDT',
        flowType: 'external',
        fromAddress: { id: address.id, address: address.address },
        toAddress: bench.recipient,
        initiatorId: person.userId,
        decisionPolicyCode: 'small',
        approvalThreshold: 0,
        approvalsCount: 0,
        metadata: { category: null, tags: ['march'], paymentPurpose: 'Invoice 4711', note: null },
      },
      {
        id: depositId,
        direction: 'in',
        operationType: 'deposit',
        status: 'confirmed',
        amountDecimal: '1000',
        toAddress: address.address,
        initiatorId: null,
      },
    ])
  })

  it('counts votes and carries the outcome', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    const id = await ordered(person, address.id, '200')
    await bench.act(bench.firstApprover, id, 'approve')
    const item = async () => (await history('direction=out', person)).body.items[0]
    expect(await item()).toMatchObject({ status: 'awaiting_approval', approvalThreshold: 2, approvalsCount: 1 })
    await bench.act(bench.secondApprover, id, 'approve')
    await bench.deliver()
    bench.vault.wallet.fail(id, 'REVERTED: no')
    await bench.deliver()
    expect(await item()).toMatchObject({ status: 'failed', failureReason: 'REVERTED: no', approvalsCount: 2 })
  })

  it('pages without gaps or repeats while new rows arrive', async () => {
    const person = await newcomer()
    const { address, depositId } = await addressOf(person)
    const expected = [depositId]
    for (let i = 0; i < 6; i += 1) expected.unshift(await ordered(person, address.id, '1'))
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await history(`limit=2${cursor}`, person)
      seen.push(...body.items.map((item: Item) => item.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
      await ordered(person, address.id, '1')
    } while (cursor !== '')
    expect(seen).toEqual(expected)
  })

  it('pages rows of one millisecond without gaps or repeats', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    for (let i = 0; i < 6; i += 1) await ordered(person, address.id, '1')
    await bench.sql(`update operations set created_at = '2026-01-31T12:00:00Z' where owner_id = $1`, [person.userId])
    const all = await idsOf('', person)
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await history(`limit=2${cursor}`, person)
      seen.push(...body.items.map((item: Item) => item.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(seen).toEqual(all)
    expect(new Set(seen).size).toBe(7)
  })
})

describe('filters', () => {
  it('by direction, status, asset, token, network, address, policy and hash', async () => {
    const person = await newcomer()
    const { address, depositId } = await addressOf(person)
    const other = await addressOf(person)
    const coin = await deposit(bench.test, {
      address: address.address,
      amount: '1',
      txHash: fakeTxHash(`${person.userId} coin`),
    })
    const small = await ordered(person, address.id, '1')
    const large = await ordered(person, other.address.id, '200')
    const { eth, usdt } = bench.vault.tokens
    const all = [large, small, coin.body.depositId, other.depositId, depositId]
    const policies = Object.fromEntries(
      (await bench.sql('select code, id from policies')).map(({ code, id }) => [code, id]),
    )
    const expectations: [string, string[]][] = [
      ['', all],
      ['direction=in', all.slice(2)],
      ['direction=out', [large, small]],
      ['status=awaiting_approval', [large]],
      ['status=pending', [small]],
      ['status=confirmed', []],
      ['status=pending&direction=in', []],
      ['asset=ETH', [coin.body.depositId]],
      ['asset=DOGE', []],
      [`tokenId=${eth.id}`, [coin.body.depositId]],
      [`tokenId=${usdt.id}&direction=in`, [other.depositId, depositId]],
      ['network=ethereum', all],
      ['network=nowhere', []],
      [`addressId=${other.address.id}`, [large, other.depositId]],
      [`decisionPolicyId=${policies.large}`, [large]],
      [`decisionPolicyId=${policies.small}&direction=in`, []],
      [`txHash=${fakeTxHash(`${person.userId} coin`)}`, [coin.body.depositId]],
      [`txHash=${fakeTxHash(`${person.userId} coin`).toUpperCase().replace('0X', '0x')}`, [coin.body.depositId]],
      [`txHash=${fakeTxHash('no such thing')}`, []],
      ['flowType=external', all],
      ['flowType=internal', []],
    ]
    for (const [query, ids] of expectations) expect([query, await idsOf(query, person)]).toEqual([query, ids])
  })

  it('by time, both bounds included, to the millisecond and by whole UTC days', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    const times = [
      '2026-01-30T23:59:59.999Z',
      '2026-01-31T00:00:00.000Z',
      '2026-01-31T23:59:59.999Z',
      '2026-02-01T00:00:00.000Z',
    ]
    const ids: string[] = []
    for (const time of times) {
      const id = await ordered(person, address.id, '1')
      await bench.sql('update operations set created_at = $2 where id = $1', [id, time])
      ids.unshift(id)
    }
    const [after, end, start, before] = ids as [string, string, string, string]
    const expectations: [string, string[]][] = [
      ['from=2026-01-31&to=2026-01-31', [end, start]],
      ['to=2026-01-30', [before]],
      ['from=2026-02-01&to=2026-02-01', [after]],
      [`from=${times[1]}&to=${times[2]}`, [end, start]],
      [`from=${times[1]}&to=${times[1]}`, [start]],
      ['from=2026-01-31T00:00:00.001Z&to=2026-01-31T23:59:59.998Z', []],
      ['from=2026-01-31T01:00:00%2B01:00&to=2026-01-31T01:00:00%2B01:00', [start]],
    ]
    for (const [query, found] of expectations)
      expect([query, await idsOf(`direction=out&${query}`, person)]).toEqual([query, found])
  })

  it('awaitingMyApproval shows what waits for the vote of the caller, and nothing else', async () => {
    const waitingFor = (by: Person, query = '') => idsOf(`awaitingMyApproval=true${query}`, by)
    const person = await newcomer()
    const { address } = await addressOf(person)
    const before = await waitingFor(bench.firstApprover)
    const id = await ordered(person, address.id, '200')
    for (const by of [bench.firstApprover, bench.secondApprover, bench.thirdApprover])
      expect((await waitingFor(by))[0]).toBe(id)
    expect(await waitingFor(person)).toEqual([])
    expect(await waitingFor(bench.vault.admin)).toEqual([])
    expect(await waitingFor(bench.firstApprover, '&direction=out')).toEqual([id, ...before])
    expect((await history('awaitingMyApproval=true&direction=in', bench.firstApprover)).status).toBe(400)
    expect((await idsOf('', bench.firstApprover)).includes(id)).toBe(false)
    expect((await idsOf('awaitingMyApproval=false', bench.firstApprover)).includes(id)).toBe(false)

    await bench.act(bench.firstApprover, id, 'approve')
    expect(await waitingFor(bench.firstApprover)).toEqual(before)
    await bench.vault.admin.delete(`/policy-groups/${bench.approversId}/members/${bench.secondApprover.userId}`)
    await bench.vault.admin.post(`/policy-groups/${await ensureGroup(bench.vault, 'treasury')}/members`, {
      userId: bench.secondApprover.userId,
    })
    expect((await waitingFor(bench.secondApprover)).includes(id)).toBe(false)
    await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, { userId: bench.secondApprover.userId })
    await bench.act(bench.thirdApprover, id, 'reject')
    expect((await waitingFor(bench.secondApprover)).includes(id)).toBe(false)
  })

  it('T30 awaitingMyApproval leaves out the own transfers of an initiator who may vote', async () => {
    const policy = await bench.policy({
      code: 'own-vote',
      effect: 'requireApproval',
      approvalThreshold: 1,
      allowInitiatorApproval: true,
      rules: [
        {
          conditionType: 'require',
          selectors: [{ selectorType: 'amount', value: { op: 'between', min: '33', max: '33' } }],
        },
      ],
      approvers: [{ kind: 'user', userId: bench.owner.userId }],
    })
    const address = await bench.fundedAddress()
    const { body } = await bench.order(address.id, '33')
    expect(body.status).toBe('awaiting_approval')
    expect(await idsOf('awaitingMyApproval=true', bench.owner)).toEqual([])
    expect((await bench.act(bench.owner, body.id, 'approve')).body.status).toBe('pending')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('internal: a transfer to another address of the vault and its deposit, matched by hash', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    const target = await createAddress(bench.owner, { token: 'USDT' })
    const id = await ordered(person, address.id, '40', { toAddress: target.address })
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    const received = await deposit(bench.test, {
      address: target.address,
      asset: usdtContract,
      amount: '40',
      txHash: fakeTxHash(id),
      fromAddress: address.address,
    })
    expect(await idsOf('flowType=internal', person)).toEqual([id])
    expect((await idsOf('flowType=internal', bench.owner))[0]).toBe(received.body.depositId)
    expect(await idsOf(`txHash=${fakeTxHash(id)}`, bench.vault.admin)).toEqual([received.body.depositId, id])
  })

  it('that do not exist or make no sense are a 400', async () => {
    const bad = [
      'from=yesterday',
      'to=2026-02-30',
      'from=2026-02-02&to=2026-02-01',
      'from=2026-02-01T00:00:00',
      'limit=0',
      'limit=101',
      'limit=x',
      'cursor=nonsense',
      'status=done',
      'direction=up',
      'flowType=both',
      'awaitingMyApproval=yes',
      'assets=USDT',
      'Direction=in',
    ]
    for (const query of bad) {
      const { status, body } = await history(query, bench.owner)
      expect([query, status]).toEqual([query, 400])
      expect(body.details[0].field).not.toBe('')
    }
  })
})

describe('security', () => {
  it('T39 a member sees the own activity only, an administrator all of it, or that of one person', async () => {
    const [person, other] = [await newcomer(), await newcomer()]
    const { depositId } = await addressOf(person)
    const foreign = await addressOf(other)
    expect(await idsOf('', person)).toEqual([depositId])
    expect(await idsOf(`addressId=${foreign.address.id}`, person)).toEqual([])
    expect(await idsOf(`txHash=${fakeTxHash('x')}`, person)).toEqual([])
    expect((await idsOf('', bench.vault.admin)).slice(0, 2)).toEqual([foreign.depositId, depositId])
    expect(await idsOf(`userId=${person.userId}`, bench.vault.admin)).toEqual([depositId])
    expect(await idsOf(`userId=${person.userId}`, person)).toEqual([depositId])
    expect((await history(`userId=${other.userId}`, person)).status).toBe(403)
    expect((await history(`userId=${other.userId}&awaitingMyApproval=true`, person)).status).toBe(403)
    expect((await history('', await bench.test.signIn('outsider@example.org'))).status).toBe(403)
    expect((await bench.test.anonymous.get('/vaults/main-vault/history')).status).toBe(401)
  })

  it('T39 nothing of another vault is in it', async () => {
    const other = await createVaultFixture(bench.test, { code: 'other-vault' })
    const { body } = await other.admin.get('/vaults/other-vault/history')
    expect(body).toEqual({ items: [], nextCursor: null })
    expect((await other.admin.get('/vaults/no-such-vault/history')).status).toBe(404)
  })
})
