import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { allowAll, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let source: Address

const book = '/vaults/main-vault/counterparties'
const groups = '/vaults/main-vault/counterparty-groups'

beforeAll(async () => {
  bench = await createTransferBench()
  for (const verb of ['create', 'update', 'archive', 'group_create', 'group_add', 'group_remove']) {
    await allowAll(bench.vault, `counterparty_${verb}`)
  }
  source = await bench.fundedAddress({ usdt: '100000' })
})
afterAll(() => bench.close())

async function counterparty(name: string, kind = 'company') {
  const addresses = [{ network: 'ethereum', address: fakeAddress(name) }]
  const answer = await bench.owner.post(book, { name, kind, addresses })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function groupOf(code: string, ...members: string[]): Promise<string> {
  const { body } = await bench.owner.post(groups, { code, name: code })
  for (const counterpartyId of members) await bench.owner.post(`${groups}/${body.id}/members`, { counterpartyId })
  return body.id
}

const pay = (name: string, amount = '1', more: Record<string, unknown> = {}) =>
  bench.order(source.id, amount, { toAddress: fakeAddress(name), ...more })

const archive = async (id: string) => expect((await bench.owner.post(`${book}/${id}/archive`)).status).toBe(200)

const historyIds = async (query: string): Promise<string[]> => {
  const { status, body } = await bench.owner.get(`/vaults/main-vault/history?${query}`)
  expect(status).toBe(200)
  return body.items.map(({ id }) => id)
}

describe('a transfer to a counterparty', () => {
  it('names the owner of the address, in any spelling of it', async () => {
    const acme = await counterparty('Acme')
    for (const toAddress of [fakeAddress('Acme'), fakeAddress('Acme').toLowerCase()]) {
      const { status, body } = await bench.order(source.id, '1', { toAddress, counterpartyId: acme.id })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        toAddress: fakeAddress('Acme'),
        counterparty: { id: acme.id, name: 'Acme', kind: 'company' },
        counterpartyAddressId: acme.addresses[0]!.id,
        flowType: 'external',
      })
    }
    expect((await bench.order(source.id, '1')).body).toMatchObject({ counterparty: null, counterpartyAddressId: null })
  })

  it('keeps the counterparty of its time', async () => {
    const { id, addresses } = await counterparty('Before')
    const ordered = await pay('Before')
    await bench.owner.patch(`${book}/${id}`, { name: 'After', kind: 'other', removeAddressIds: [addresses[0]!.id] })
    expect(await bench.read(ordered.body.id)).toMatchObject({
      counterparty: { id, name: 'Before', kind: 'company' },
      counterpartyAddressId: addresses[0]!.id,
    })
  })

  it('is refused when counterpartyId does not own the address, or the address is unknown', async () => {
    const [right, two] = [await counterparty('Right'), await counterparty('Wrong')]
    for (const [to, counterpartyId] of [
      ['Right', two.id],
      ['Right', 'nobody'],
      ['an unknown address', right.id],
    ]) {
      const { status, body } = await pay(to!, '1', { counterpartyId })
      expect([status, body.details[0]!.field]).toEqual([400, 'counterpartyId'])
      const preview = { fromAddressId: source.id, toAddress: fakeAddress(to!), amount: '1', counterpartyId }
      expect((await bench.owner.post('/vaults/main-vault/transfers/preview', preview)).status).toBe(400)
    }
  })

  it('is refused after the counterparty is archived, with and without its name', async () => {
    const { id } = await counterparty('Gone')
    await archive(id)
    const before = await bench.balances(source.id)
    for (const answer of [await pay('Gone'), await pay('Gone', '1', { counterpartyId: id })]) {
      expect([answer.status, answer.body.message]).toEqual([409, 'The counterparty is archived'])
    }
    expect(await bench.balances(source.id)).toEqual(before)
  })

  it('shows the counterparty to policies', async () => {
    const inGroup = await counterparty('In the group')
    const groupId = await groupOf('blocked', inGroup.id)
    await counterparty('A venue', 'exchange')
    const selectorPolicy = (code: string, selectorType: string, value: unknown) =>
      bench.policy({
        code,
        effect: 'block',
        blockReason: code,
        rules: [{ conditionType: 'require', selectors: [{ selectorType, value }] }],
      })
    const policies = [
      await selectorPolicy('not-the-group', 'counterpartyGroup', groupId),
      await selectorPolicy('not-exchanges', 'counterpartyKind', 'exchange'),
      await selectorPolicy('not-strangers', 'destinationType', 'unknown'),
    ]
    const reason = async (name: string) => (await pay(name)).body.message
    expect(await reason('In the group')).toBe('not-the-group')
    expect(await reason('A venue')).toBe('not-exchanges')
    expect(await reason('A stranger')).toBe('not-strangers')
    expect((await pay('Acme')).status).toBe(201)
    await bench.owner.delete(`${groups}/${groupId}/members/${inGroup.id}`)
    expect((await pay('In the group')).status).toBe(201)
    const ownAddress = await bench.fundedAddress({ usdt: '0' })
    expect((await bench.order(source.id, '1', { toAddress: ownAddress.address })).status).toBe(201)
    for (const { id } of policies) await bench.vault.admin.delete(`/policies/${id}`)
  })
})

describe('T29 the last vote', () => {
  const order = async (name: string) => {
    const { status, body } = await pay(name, '101')
    expect([status, body.status]).toEqual([201, 'awaiting_approval'])
    expect((await bench.act(bench.firstApprover, body.id, 'approve')).status).toBe(200)
    return body.id as string
  }
  const refused = async (id: string, message: string) => {
    const vote = await bench.act(bench.secondApprover, id, 'approve')
    expect([vote.status, vote.body.message]).toEqual([409, message])
    expect((await bench.read(id)).status).toBe('awaiting_approval')
  }

  it('sends an unchanged transfer', async () => {
    await counterparty('Steady')
    const id = await order('Steady')
    expect((await bench.act(bench.secondApprover, id, 'approve')).body.status).toBe('pending')
  })

  it('is refused when the counterparty was archived meanwhile', async () => {
    const archived = await counterparty('Archived meanwhile')
    const id = await order('Archived meanwhile')
    await archive(archived.id)
    await refused(id, 'The counterparty is archived')
  })

  it('is followed by a check at the hand-over, which refuses a counterparty that was archived later', async () => {
    const archived = await counterparty('Archived late')
    const id = await order('Archived late')
    expect((await bench.act(bench.secondApprover, id, 'approve')).body.status).toBe('pending')
    await archive(archived.id)
    await bench.deliver()
    const { status, failureReason } = await bench.read(id)
    expect([status, failureReason]).toEqual(['failed', 'NO_LONGER_ALLOWED: The counterparty is archived'])
    expect(bench.vault.wallet.transfer(id)).toBeNull()
  })

  it('is refused when the address moved from an archived counterparty to another, or the reverse', async () => {
    const first = await counterparty('Hands over')
    const id = await order('Hands over')
    await bench.owner.patch(`${book}/${first.id}`, { removeAddressIds: [first.addresses[0]!.id] })
    await archive(first.id)
    await refused(id, 'The counterparty is archived')

    const stranger = await order('Becomes known')
    const later = await counterparty('Becomes known')
    await archive(later.id)
    await refused(stranger, 'The counterparty is archived')
  })

  it('is refused when a policy blocks the present groups of the counterparty', async () => {
    const listed = await counterparty('Listed meanwhile')
    const id = await order('Listed meanwhile')
    const groupId = await groupOf('sanctioned')
    const { id: policyId } = await bench.policy({
      code: 'sanctioned',
      effect: 'block',
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'counterpartyGroup', value: groupId }] }],
    })
    await bench.owner.post(`${groups}/${groupId}/members`, { counterpartyId: listed.id })
    await refused(id, 'A policy blocks this transfer now')
    await bench.owner.delete(`${groups}/${groupId}/members/${listed.id}`)
    expect((await bench.act(bench.secondApprover, id, 'approve')).body.status).toBe('pending')
    await bench.vault.admin.delete(`/policies/${policyId}`)
  })

  it('is refused when the address left the address book and strangers are blocked', async () => {
    const forgotten = await counterparty('Forgotten')
    const id = await order('Forgotten')
    const { id: policyId } = await bench.policy({
      code: 'strangers',
      effect: 'block',
      rules: [
        ...amountRule({ op: 'gt', value: '100' }),
        { conditionType: 'require', selectors: [{ selectorType: 'destinationType', value: 'unknown' }] },
      ],
    })
    await bench.owner.delete(`${book}/${forgotten.id}/addresses/${forgotten.addresses[0]!.id}`)
    await refused(id, 'A policy blocks this transfer now')
    await bench.vault.admin.delete(`/policies/${policyId}`)
  })
})

describe('a deposit and the history', () => {
  it('name the sender, and filter by counterparty, its address and its present groups', async () => {
    const [payer, other] = [await counterparty('Payer'), await counterparty('Other payer')]
    const second = await bench.owner.post(`${book}/${payer.id}/addresses`, {
      network: 'ethereum',
      address: fakeAddress('Payer, second'),
    })
    const receive = async (from: string) => {
      const { body } = await deposit(bench.test, {
        address: source.address,
        asset: usdtContract,
        amount: '5',
        fromAddress: from,
      })
      expect(body.outcome).toBe('credited')
      return body.depositId as string
    }
    const first = await receive(fakeAddress('Payer').toLowerCase())
    const fromSecond = await receive(fakeAddress('Payer, second'))
    const fromOther = await receive(fakeAddress('Other payer'))
    const out = (await pay('Payer')).body.id
    await receive(fakeAddress('Nobody we know'))

    const { body } = await bench.owner.get(`/vaults/main-vault/deposits/${first}`)
    expect(body).toMatchObject({
      counterparty: { id: payer.id, name: 'Payer', kind: 'company' },
      counterpartyAddressId: payer.addresses[0]!.id,
    })
    const { body: history } = await bench.owner.get(`/vaults/main-vault/history?counterpartyId=${payer.id}`)
    expect(history.items.map((item) => [item.id, item.counterparty])).toEqual(
      [out, fromSecond, first].map((id) => [id, { id: payer.id, name: 'Payer' }]),
    )
    expect(await historyIds(`counterpartyAddressId=${second.body.id}`)).toEqual([fromSecond])
    expect(await historyIds(`counterpartyId=${payer.id}&direction=in`)).toEqual([fromSecond, first])
    expect(await historyIds('counterpartyId=nobody')).toEqual([])

    const groupId = await groupOf('payers', payer.id)
    expect(await historyIds(`counterpartyGroupId=${groupId}`)).toEqual([out, fromSecond, first])
    await bench.owner.post(`${groups}/${groupId}/members`, { counterpartyId: other.id })
    await bench.owner.delete(`${groups}/${groupId}/members/${payer.id}`)
    expect(await historyIds(`counterpartyGroupId=${groupId}`)).toEqual([fromOther])
    // History keeps the counterparty after it is archived or renamed.
    await archive(other.id)
    expect(await historyIds(`counterpartyGroupId=${groupId}`)).toEqual([fromOther])
  })

  it('T39 a counterparty filter reveals no activity of others', async () => {
    const payer = await counterparty('Pays two people')
    const otherAddress = await bench.fundedAddress({ usdt: '0' }, bench.firstApprover)
    await deposit(bench.test, {
      address: otherAddress.address,
      amount: '1',
      fromAddress: fakeAddress('Pays two people'),
    })
    expect(await historyIds(`counterpartyId=${payer.id}`)).toEqual([])
    expect(
      (await bench.firstApprover.get(`/vaults/main-vault/history?counterpartyId=${payer.id}`)).body.items,
    ).toHaveLength(1)
  })
})
