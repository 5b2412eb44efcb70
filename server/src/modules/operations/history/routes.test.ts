import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
} from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let members = 0

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

const history = (query: string, by: Person) => by.get(`/vaults/main-vault/history?${query}`)
const idsOf = async (query: string, by: Person): Promise<string[]> => {
  const { status, body } = await history(query, by)
  expect([query, status]).toEqual([query, 200])
  return body.items.map((item) => item.id)
}

/** A member without any history. */
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

/** Moves an operation to another time, with the rows by which it is found. */
async function setCreated(id: string, time: string): Promise<void> {
  await bench.sql(
    `with moved as (update operations set created_at = $2 where id = $1 returning vault_id, id, created_at),
       found as (
         update transfer_hashes h set created_at = m.created_at from moved m where h.vault_id = m.vault_id and h.id = m.id
       )
     update unconfirmed_transfers u set created_at = m.created_at from moved m where u.vault_id = m.vault_id and u.id = m.id`,
    [id, time],
  )
}

describe('the feed', () => {
  it('lists transfers and deposits, newest first, each with its direction', async () => {
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

  it('shows the number of votes and the outcome of a transfer', async () => {
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
      seen.push(...body.items.map((item) => item.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
      await ordered(person, address.id, '1')
    } while (cursor !== '')
    expect(seen).toEqual(expected)
  })

  it('pages rows of one millisecond without gaps or repeats', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    for (let i = 0; i < 6; i += 1) await setCreated(await ordered(person, address.id, '1'), '2026-01-31T12:00:00Z')
    await bench.forgetSeals()
    const all = await idsOf('', person)
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await history(`limit=2${cursor}`, person)
      seen.push(...body.items.map((item) => item.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(seen).toEqual(all)
    expect(new Set(seen).size).toBe(7)
  })
})

describe('filters', () => {
  it('select by direction, status, asset, token, network, address, policy and hash', async () => {
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
      ['statuses=confirmed', all.slice(2)],
      ['statuses=pending,confirmed', [small, ...all.slice(2)]],
      ['statuses=pending', [small]],
      ['statuses=confirmed&direction=out', []],
      ['statuses=confirmed,pending&status=pending,awaiting_approval', [small]],
      ['statuses=confirmed&status=pending', []],
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

  it('select by time, with both bounds included, to the millisecond or by whole UTC days', async () => {
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
      await setCreated(id, time)
      ids.unshift(id)
    }
    await bench.forgetSeals()
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

  it('select exactly the operations that wait for the vote of the caller, by awaitingMyApproval', async () => {
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

  it('T30 awaitingMyApproval omits transfers that the caller initiated, even if the caller may vote on them', async () => {
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

  it('select a transfer to another address of the vault and its deposit, matched by hash, as internal', async () => {
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

  it('select by counterparty on either side, by its address and by its present groups', async () => {
    const person = await newcomer()
    const { address, depositId } = await addressOf(person)
    const [ours, theirs] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222']
    await allowAll(bench.vault, 'counterparty_create')
    const create = async (name: string, at: string) => {
      const body = { name, kind: 'company', addresses: [{ network: 'ethereum', address: at }] }
      const created = await bench.vault.admin.post('/vaults/main-vault/counterparties', body)
      expect(created.status).toBe(201)
      return created.body
    }
    const [supplier, customer] = [await create('Supplier', ours!), await create('Customer', theirs!)]
    const out = await ordered(person, address.id, '2', { toAddress: ours })
    const received = await deposit(bench.test, { address: address.address, amount: '3', fromAddress: theirs })
    const groupId = newId()
    const now = new Date()
    await bench.sql(
      `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at) values ($1, $2, 'g', 'G', $3, $3)`,
      [bench.vault.id, groupId, now],
    )
    const join = (id: string) =>
      bench.sql('insert into counterparty_group_memberships values ($1, $2, $3, $4)', [
        bench.vault.id,
        groupId,
        id,
        now,
      ])
    const inn = received.body.depositId
    expect(await idsOf(`counterpartyId=${supplier.id}`, person)).toEqual([out])
    expect(await idsOf(`counterpartyId=${customer.id}`, person)).toEqual([inn])
    expect(await idsOf(`counterpartyAddressId=${customer.addresses[0]!.id}`, person)).toEqual([inn])
    expect(await idsOf(`counterpartyGroupId=${groupId}`, person)).toEqual([])
    await join(customer.id)
    expect(await idsOf(`counterpartyGroupId=${groupId}`, person)).toEqual([inn])
    await join(supplier.id)
    expect(await idsOf(`counterpartyGroupId=${groupId}`, person)).toEqual([inn, out])
    expect(await idsOf(`counterpartyGroupId=${groupId}&counterpartyId=${supplier.id}`, person)).toEqual([out])
    expect(await idsOf('', person)).toEqual([inn, out, depositId])
  })

  it('select by the categories that the caller sees, and by purposes of any length', async () => {
    const person = await newcomer()
    const { address, depositId } = await addressOf(person)
    const longest = String.fromCodePoint(...Array.from({ length: 1_000 }, (_, i) => 0x20000 + ((i * 7919) % 40_000)))
    const id = await ordered(person, address.id, '1', { metadata: { paymentPurpose: longest } })
    const near = await ordered(person, address.id, '1', { metadata: { paymentPurpose: 'Invoice 1' } })
    expect(await idsOf(`paymentPurpose=${encodeURIComponent(longest)}`, person)).toEqual([id])
    expect(await idsOf(`paymentPurpose=${encodeURIComponent(longest)}`, bench.vault.admin)).toEqual([id])
    expect(await idsOf('paymentPurpose=Invoice%201', person)).toEqual([near])
    expect(await idsOf('paymentPurpose=invoice%201', person)).toEqual([])

    for (const [key, viewScope] of [
      ['hidden', 'restricted'],
      ['shown', 'vault_members'],
    ]) {
      const categoryId = newId()
      await bench.sql(
        `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope,
           approval_scope, approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
         values ($1, $2, $3, 'Category', 'both', $4, 'vault_members', 'vault_members', 'none', 0, false, 'x', 'x', now(), now())`,
        [bench.vault.id, categoryId, key, viewScope],
      )
      await bench.sql(
        `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id,
           values, assigned_by_id, created_at, updated_at)
         select vault_id, $3, id, type, created_at, $4, '{}', 'x', now(), now() from operations where vault_id = $1 and id = $2`,
        [bench.vault.id, depositId, newId(), categoryId],
      )
    }
    const categoryFor = async (by: Person) =>
      (await history('category=shown', by)).body.items.map((item) => [item.id, item.metadata])
    const metadata = { tags: [], paymentPurpose: null, note: null }
    expect(await categoryFor(person)).toEqual([[depositId, { ...metadata, category: 'shown' }]])
    expect(await categoryFor(bench.vault.admin)).toEqual([[depositId, { ...metadata, category: 'hidden' }]])
    expect(await idsOf('category=hidden', person)).toEqual([])
    expect(await idsOf('category=hidden', bench.vault.admin)).toEqual([depositId])
    expect(await idsOf('category=none', bench.vault.admin)).toEqual([])
  })

  it('are part of the cursor: a cursor with other filters or of another list is a 400', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    const ids = []
    for (let i = 0; i < 3; i += 1) ids.unshift(await ordered(person, address.id, '1'))
    const { nextCursor } = (await history('direction=out&limit=1', person)).body
    const withCursor = (query: string, by = person) => history(`${query}&cursor=${nextCursor}`, by)
    expect((await withCursor('direction=out&limit=2')).body.items.map((item) => item.id)).toEqual(ids.slice(1))
    const others = [
      '',
      'direction=in',
      'direction=out&from=2020-01-01',
      'direction=out&includeShared=true',
      'status=pending',
    ]
    for (const query of others) {
      const { status, body } = await withCursor(query)
      expect([query, status, body.details?.[0]?.field]).toEqual([query, 400, 'cursor'])
    }
    expect((await withCursor('direction=out', bench.vault.admin)).status).toBe(400)
    expect((await withCursor('direction=out', bench.owner)).status).toBe(400)
    expect((await person.get(`/vaults/main-vault/transfers?cursor=${nextCursor}`)).status).toBe(400)
    expect((await person.get(`/vaults/main-vault/deposits?cursor=${nextCursor}`)).status).toBe(400)
    // A cursor without a tag belongs to a list without filters.
    const plain = Buffer.from(Buffer.from(nextCursor!, 'base64url').toString().split('.').slice(0, 2).join('.'))
    expect((await history(`direction=out&cursor=${plain.toString('base64url')}`, person)).status).toBe(400)
  })

  it.each([
    ['from', 'yesterday'],
    ['to', '2026-02-30'],
    ['from', ''],
    ['from', '2026-02-02&to=2026-02-01'],
    ['from', '2026-02-01T00:00:00.001Z&to=2026-02-01T00:00:00.000Z'],
    ['from', '2026-02-01T00:00:00'],
    ['from', '10000-01-01'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'x'],
    ['limit', '9'.repeat(400)],
    ['cursor', 'nonsense'],
    ['cursor', ''],
    ['cursor', 'A'.repeat(201)],
    ['status', 'done'],
    ['statuses', 'done'],
    ['direction', 'up'],
    ['direction', 'in&awaitingMyApproval=true'],
    ['flowType', 'both'],
    ['awaitingMyApproval', 'yes'],
    ['includeShared', '1'],
    ['asset', 'x'.repeat(65)],
    ['txHash', 'x'.repeat(129)],
    ['addressId', 'x'.repeat(129)],
    ['category', ''],
    ['paymentPurpose', ''],
    ['paymentPurpose', 'x'.repeat(2_001)],
    // A misspelt filter, if ignored, would return more than was requested.
    ['assets', 'USDT'],
    ['Direction', 'in'],
    ['tags', 'march'],
    ['status[]', 'failed'],
    ['__proto__', 'x'],
    ['constructor', 'x'],
    ['hasOwnProperty', 'x'],
  ])('that do not exist or make no sense are a 400: %s=%s', async (name, value) => {
    const { status, body } = await history(`${name}=${value}`, bench.owner)
    // The error of a list names the faulty element by its position.
    expect([status, body.details[0]!.field.replace(/\.0$/, '')]).toEqual([400, name])
  })

  it('that are repeated are a 400, for every parameter', async () => {
    const twice: [string, string, string][] = [
      ['direction', 'in', 'out'],
      ['search', 'one', 'other'],
      ['flowType', 'internal', 'external'],
      ['awaitingMyApproval', 'true', 'false'],
      ['includeShared', 'true', 'false'],
      ['limit', '5', '6'],
      ['from', '2026-01-01', '2026-01-02'],
      ['to', '2026-01-01', '2026-01-02'],
      ...['userId', 'asset', 'tokenId', 'network', 'addressId', 'folderId', 'counterpartyId', 'counterpartyGroupId']
        .concat('counterpartyAddressId', 'category', 'paymentPurpose', 'decisionPolicyId', 'txHash', 'cursor')
        .map((name): [string, string, string] => [name, 'a', 'b']),
    ]
    for (const [name, value, other] of twice) {
      const { status, body } = await history(`${name}=${value}&${name}=${other}`, bench.owner)
      expect([name, status, body.details?.[0]?.field]).toEqual([name, 400, name])
    }
  })

  it('with a NUL character are a 400, and the first and last possible times are accepted', async () => {
    for (const name of ['asset', 'addressId', 'counterpartyGroupId', 'category', 'paymentPurpose', 'txHash'])
      expect([name, (await history(`${name}=%00`, bench.owner)).status]).toEqual([name, 400])
    const person = await newcomer()
    const { depositId } = await addressOf(person)
    expect(await idsOf('from=0000-01-01T00:00:00%2B23:59&to=9999-12-31T23:59:59-23:59', person)).toEqual([depositId])
  })
})

describe('security', () => {
  it('T39 a member sees only their own activity, an administrator that of all members or of one of them', async () => {
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

  it('T39 the history contains nothing of another vault', async () => {
    const other = await createVaultFixture(bench.test, { code: 'other-vault' })
    const { body } = await other.admin.get('/vaults/other-vault/history')
    expect(body).toEqual({ items: [], nextCursor: null })
    expect((await other.admin.get('/vaults/no-such-vault/history')).status).toBe(404)
  })
})

describe('an item', () => {
  it('names the initiator, the addresses of the vault that the caller sees, and the end of a transfer', async () => {
    const [payer, payee] = [await newcomer(), await newcomer()]
    const [from, to] = [await addressOf(payer), await addressOf(payee)]
    await payee.patch(`/vaults/main-vault/addresses/${to.address.id}`, { label: 'Payroll' })
    const id = await ordered(payer, from.address.id, '200', { toAddress: to.address.address })
    const itemFor = async (by: Person) => (await history('direction=out', by)).body.items.find((item) => item.id === id)
    const forPayer = await itemFor(payer)
    expect(forPayer).toMatchObject({ toAddressId: null, toAddressLabel: null, status: 'awaiting_approval' })
    expect(forPayer!.initiator).toEqual({
      userId: payer.userId,
      kind: 'person',
      name: expect.any(String),
      image: null,
    })
    expect(Date.parse(forPayer!.expiresAt!)).toBeGreaterThan(Date.parse(forPayer!.createdAt))
    expect(JSON.stringify(forPayer)).not.toContain('@example.org')
    expect(await itemFor(bench.vault.admin)).toMatchObject({ toAddressId: to.address.id, toAddressLabel: 'Payroll' })
    const arrived = (await history('direction=in', payee)).body.items[0]
    expect(arrived).toMatchObject({
      initiator: null,
      expiresAt: null,
      toAddressId: to.address.id,
      toAddressLabel: 'Payroll',
      fromAddressLabel: null,
    })
  })

  it('is filtered by several statuses, by initiator, by amounts of a token, and by text', async () => {
    const person = await newcomer()
    const { address } = await addressOf(person)
    const metadata = (paymentPurpose: string) => ({ metadata: { paymentPurpose } })
    const small = await ordered(person, address.id, '40', metadata('Rent of the Harbour'))
    const large = await ordered(person, address.id, '200', metadata('100 % of it'))
    const { items } = (await history('', person)).body
    const { tokenId, amount } = items.find((item) => item.id === small)!
    expect(await idsOf('status=pending,awaiting_approval', person)).toEqual([large, small])
    expect(await idsOf('status=awaiting_approval&status=failed', person)).toEqual([large])
    expect(await idsOf(`initiatorId=${person.userId}`, bench.vault.admin)).toEqual([large, small])
    expect(await idsOf(`initiatorId=${person.userId}`, bench.owner)).toEqual([])
    expect(await idsOf(`tokenId=${tokenId}&maximumAmount=${amount}`, person)).toEqual([small])
    expect(await idsOf(`tokenId=${tokenId}&minimumAmount=${BigInt(amount) + 1n}&direction=out`, person)).toEqual([
      large,
    ])
    expect(await idsOf('search=harbour', person)).toEqual([small])
    expect(await idsOf(`search=${encodeURIComponent('0 %')}`, person)).toEqual([large])
    expect(await idsOf(`search=${bench.recipient.slice(5, 12)}`, person)).toEqual([large, small])
    expect(await idsOf(`search=${bench.recipient.slice(5, 10)}`, person)).toEqual([])
    const faultOf = async (query: string) => (await history(query, person)).body.details?.[0]?.field
    expect([await faultOf('minimumAmount=1'), await faultOf('status=pending,gone'), await faultOf('search=a')]).toEqual(
      ['tokenId', 'status.0', 'search'],
    )
  })
})
