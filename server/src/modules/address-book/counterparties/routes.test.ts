import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressesPerCounterpartyMax } from '../../../lib/limits.ts'
import type { Answer, AnswerOf, ApprovalRequest } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  ensureGroup,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
let clerk: Person
let approver: Person

const base = '/vaults/main-vault/counterparties'
const tronAddress = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const segwitAddress = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'

beforeAll(async () => {
  test = await createTestApp()
  const network = {
    ...fixtureRoutes.network,
    variants: [
      ...fixtureRoutes.network.variants,
      { id: 0, code: 'bitcoin', name: 'Bitcoin' },
      { id: 195, code: 'tron', name: 'Tron' },
    ],
  }
  vault = await createVaultFixture(test, { routes: { ...fixtureRoutes, network } })
  clerk = await addMember(test, vault, 'clerk@example.org', ['clerks'])
  approver = await addMember(test, vault, 'approver@example.org', ['approvers'])
  for (const verb of ['create', 'update', 'archive', 'group_create', 'group_add']) {
    await createPolicy(vault, {
      groupId: await ensureGroup(vault, 'clerks'),
      code: `clerks-${verb.replace('_', '-')}`,
      name: 'Clerks keep the address book',
      actionType: `counterparty_${verb}`,
      effect: 'allow',
    })
  }
  await allowAll(vault, 'create_address')
})
afterAll(() => test.close())

let names = 0
async function createOne(body: Record<string, unknown> = {}, by = clerk) {
  names += 1
  const answer = await by.post(base, { name: `Supplier ${names}`, kind: 'company', ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

const composite = (by: Person, steps: object[]) => by.post('/vaults/main-vault/approval-requests/composite', { steps })

const ethereum = (seed: string) => ({ network: 'ethereum', address: fakeAddress(seed) })

async function lastAudit(targetId: string) {
  const { content } = await test.deps.db
    .selectFrom('audit_records')
    .select('content')
    .where('target_id', '=', targetId)
    .where('action', 'like', 'counterparty%')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const { action, actorId, details } = JSON.parse(content)
  return { action, actorId, details }
}

describe('the address book', () => {
  it('takes a counterparty with its addresses in the form of their networks', async () => {
    const lower = fakeAddress('acme').toLowerCase()
    const addresses = [
      { network: 'ethereum', address: lower, label: 'Payroll' },
      { network: 'bitcoin', address: segwitAddress.toUpperCase() },
      { network: 'tron', address: tronAddress, label: null },
    ]
    const { status, body } = await clerk.post(base, {
      name: 'Acme',
      kind: 'company',
      description: 'Paper and pencils',
      avatarUri: 'https://example.org/acme.png',
      color: '#1d4ed8',
      emoji: '🏭',
      addresses,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      vaultId: vault.id,
      name: 'Acme',
      kind: 'company',
      description: 'Paper and pencils',
      avatarUri: 'https://example.org/acme.png',
      color: '#1d4ed8',
      emoji: '🏭',
      archivedAt: null,
      version: 1,
      groups: [],
      addresses: [
        { network: 'ethereum', address: fakeAddress('acme'), label: 'Payroll' },
        { network: 'bitcoin', address: segwitAddress, label: null },
        { network: 'tron', address: tronAddress, label: null },
      ],
    })
    expect(body.createdAt).toBe(body.addresses[0]!.createdAt)
    expect((await approver.get(`${base}/${body.id}`)).body).toEqual(body)
    expect(await lastAudit(body.id)).toEqual({
      action: 'counterparty.created',
      actorId: clerk.userId,
      details: {
        name: 'Acme',
        kind: 'company',
        addresses: body.addresses.map(({ network, address }) => ({ network, address })),
      },
    })
  })

  it('changes fields and addresses in one step of the version', async () => {
    const counterparty = await createOne({
      description: 'old',
      addresses: [ethereum('moving 1'), ethereum('moving 2')],
    })
    const [first, second] = counterparty.addresses
    const { status, body } = await clerk.patch(`${base}/${counterparty.id}`, {
      kind: 'exchange',
      description: null,
      removeAddressIds: [first!.id],
      // A removed address may be added again in the same step, under another label.
      addAddresses: [{ ...ethereum('moving 1'), label: 'Cold' }, ethereum('moving 3')],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: counterparty.name, kind: 'exchange', description: null, version: 2 })
    expect(body.addresses.map(({ address, label }) => [address, label])).toEqual([
      [second!.address, null],
      [fakeAddress('moving 1'), 'Cold'],
      [fakeAddress('moving 3'), null],
    ])
    expect(await lastAudit(counterparty.id)).toMatchObject({
      action: 'counterparty.updated',
      details: {
        changes: { before: { kind: 'company', description: 'old' }, after: { kind: 'exchange', description: null } },
        addedAddresses: [{ address: fakeAddress('moving 1') }, { address: fakeAddress('moving 3') }],
        removedAddresses: [{ address: fakeAddress('moving 1') }],
      },
    })
  })

  it('adds and removes one address', async () => {
    const counterparty = await createOne()
    const added = await clerk.post(`${base}/${counterparty.id}/addresses`, {
      ...ethereum('single'),
      label: 'Hot wallet',
    })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({ ...ethereum('single'), label: 'Hot wallet' })
    const upper = await clerk.post(`${base}/${counterparty.id}/addresses`, {
      network: 'bitcoin',
      address: 'BC1SW50QGDZ25J',
    })
    expect(upper.body.address).toBe('bc1sw50qgdz25j')
    expect((await clerk.delete(`${base}/${counterparty.id}/addresses/${added.body.id}`)).status).toBe(204)
    const { body } = await clerk.get(`${base}/${counterparty.id}`)
    expect(body).toMatchObject({ version: 4, addresses: [upper.body] })
    // A removed address can be given to another counterparty.
    expect((await createOne({ addresses: [ethereum('single')] })).addresses).toHaveLength(1)
  })

  it('is archived for good and stays readable', async () => {
    const counterparty = await createOne({ addresses: [ethereum('archived')] })
    const { status, body } = await clerk.post(`${base}/${counterparty.id}/archive`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ version: 2, archivedAt: body.updatedAt, addresses: counterparty.addresses })
    expect((await lastAudit(counterparty.id)).action).toBe('counterparty.archived')
    expect((await clerk.get(`${base}/${counterparty.id}`)).body).toEqual(body)
    const url = `${base}/${counterparty.id}` as const
    const refused = [
      await clerk.post(`${url}/archive`),
      await clerk.patch(url, { name: 'Again' }),
      await clerk.post(`${url}/addresses`, ethereum('too late')),
      await clerk.delete(`${url}/addresses/${counterparty.addresses[0]!.id}`),
    ]
    for (const answer of refused) {
      expect(answer.status).toBe(409)
      expect(answer.body.message).toBe('The counterparty is archived')
    }
    expect((await clerk.get(url)).body).toEqual(body)
    // An archived counterparty keeps its addresses, so that another one cannot take them unnoticed.
    expect((await clerk.post(base, { name: 'x', kind: 'other', addresses: [ethereum('archived')] })).status).toBe(409)
  })

  it('lists by kind, group, archived and text, metacharacters standing for themselves', async () => {
    const odd = await createOne({ name: '100%_Sure\\', kind: 'service' })
    const labelled = await createOne({
      kind: 'individual',
      addresses: [{ network: 'tron', address: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', label: 'Nadir Vault' }],
    })
    const gone = await createOne({ kind: 'individual' })
    await clerk.post(`${base}/${gone.id}/archive`)
    const group = await clerk.post('/vaults/main-vault/counterparty-groups', { code: 'listed', name: 'Listed' })
    await clerk.post(`/vaults/main-vault/counterparty-groups/${group.body.id}/members`, { counterpartyId: odd.id })
    const ids = async (query: Record<string, string>) => {
      const { status, body } = await approver.get(`${base}?${new URLSearchParams({ limit: '100', ...query })}`)
      expect(status).toBe(200)
      return body.items.map(({ id }) => id)
    }
    expect(await ids({ kind: 'individual' })).toEqual([gone.id, labelled.id])
    expect(await ids({ kind: 'individual', archived: 'true' })).toEqual([gone.id])
    expect(await ids({ kind: 'individual', archived: 'false' })).toEqual([labelled.id])
    expect(await ids({ search: '%_sure' })).toEqual([odd.id])
    expect(await ids({ search: 'e\\' })).toEqual([odd.id])
    expect(await ids({ search: 'nadir' })).toEqual([labelled.id])
    expect(await ids({ search: 'XAB4DBG' })).toEqual([labelled.id])
    expect(await ids({ search: '%' })).toEqual([odd.id])
    expect(await ids({ search: "' or true --" })).toEqual([])
    expect(await ids({ groupId: group.body.id })).toEqual([odd.id])
    expect(await ids({ groupId: group.body.id, kind: 'company' })).toEqual([])
    expect(await ids({ groupId: 'nowhere' })).toEqual([])
    const { body } = await clerk.get(`${base}/${odd.id}`)
    expect(body.groups).toEqual([{ id: group.body.id, code: 'listed', name: 'Listed' }])
  })

  it('pages through all of it, newest first', async () => {
    for (let i = 0; i < 5; i += 1) await createOne()
    const all = (await clerk.get(`${base}?limit=100`)).body.items.map(({ id }) => id)
    expect(all).toEqual([...all].sort().reverse())
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const answer: AnswerOf<'get', typeof base> = await clerk.get(
        `${base}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...answer.body.items.map(({ id }) => id))
      cursor = answer.body.nextCursor
    }
    expect(seen).toEqual(all)
  })

  it('gives the same answer for the same Idempotency-Key', async () => {
    const body = { name: 'Once', kind: 'other' }
    const [first, second] = [
      await clerk.post(base, body, { 'idempotency-key': 'once' }),
      await clerk.post(base, body, { 'idempotency-key': 'once' }),
    ]
    expect(second.body).toEqual(first.body)
    expect((await clerk.get(`${base}?search=Once`)).body.items).toHaveLength(1)
  })
})

describe('refusals', () => {
  it.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['an unknown kind', { kind: 'bank' }, 'kind'],
    ['a field of ours', { version: 7 }, 'version'],
    ['a script as an avatar', { avatarUri: 'javascript:alert(1)' }, 'avatarUri'],
    ['an address of no network', { addresses: [{ network: 'nowhere', address: '0x' }] }, 'addresses.0.network'],
    ['an unknown field of an address', { addresses: [{ ...ethereum('x'), tag: '1' }] }, 'addresses.0.tag'],
    [
      'a wrong EIP-55 checksum',
      { addresses: [ethereum('x'), { network: 'ethereum', address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed' }] },
      'addresses.1.address',
    ],
    [
      'a wrong base58 checksum',
      { addresses: [{ network: 'bitcoin', address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb' }] },
      'addresses.0.address',
    ],
    [
      'a wrong bech32 checksum',
      { addresses: [{ network: 'bitcoin', address: `${segwitAddress.slice(0, -1)}5` }] },
      'addresses.0.address',
    ],
    [
      'an address of another network',
      { addresses: [{ network: 'bitcoin', address: tronAddress }] },
      'addresses.0.address',
    ],
    [
      'an address twice',
      { addresses: [ethereum('x'), { network: 'ethereum', address: fakeAddress('x').toLowerCase() }] },
      'addresses.1.address',
    ],
  ])('400 for %s', async (_what, change, field) => {
    const { status, body } = await clerk.post(base, { name: 'x', kind: 'company', ...change })
    expect([status, body.details?.[0]?.field]).toEqual([400, field])
  })

  it('names every address that is wrong', async () => {
    const { body } = await clerk.post(base, {
      name: 'x',
      kind: 'company',
      addresses: [{ network: 'tron', address: 'x' }, ethereum('right'), { network: 'ethereum', address: 'x' }],
    })
    expect(body.details.map(({ field }) => field)).toEqual(['addresses.0.address', 'addresses.2.address'])
  })

  it('400 for a wrong address of an update, by its path in the body that was sent', async () => {
    const { id } = await createOne()
    const wrong = { network: 'ethereum', address: '0x1' }
    const single = await clerk.post(`${base}/${id}/addresses`, wrong)
    expect([single.status, single.body.details]).toEqual([
      400,
      [{ field: 'address', message: 'is not a valid address of the network ethereum' }],
    ])
    const many = await clerk.patch(`${base}/${id}`, { addAddresses: [wrong] })
    expect([many.status, many.body.details[0]!.field]).toEqual([400, 'addAddresses.0.address'])
    expect((await clerk.get(`${base}/${id}`)).body.version).toBe(1)
  })

  it('409 for an address that somebody has, in any spelling', async () => {
    const owner = await createOne({ name: 'First owner', addresses: [ethereum('taken')] })
    const lower = { network: 'ethereum', address: fakeAddress('taken').toLowerCase() }
    const { id } = await createOne()
    for (const answer of [
      await clerk.post(base, { name: 'x', kind: 'company', addresses: [lower] }),
      await clerk.post(`${base}/${id}/addresses`, lower),
      await clerk.patch(`${base}/${id}`, { addAddresses: [lower] }),
      await clerk.post(`${base}/${owner.id}/addresses`, lower),
    ]) {
      expect([answer.status, answer.body.message]).toEqual([
        409,
        `${fakeAddress('taken')} on ethereum belongs to the counterparty First owner`,
      ])
    }
  })

  it('409 for an address of the vault itself', async () => {
    const vaultAddress = await createAddress(clerk)
    const { status, body } = await clerk.post(base, {
      name: 'x',
      kind: 'company',
      addresses: [{ network: 'ethereum', address: vaultAddress.address }],
    })
    expect([status, body.message]).toEqual([409, `${vaultAddress.address} on ethereum is an address of this vault`])
  })

  it('409 for more addresses than an answer holds', async () => {
    const addresses = Array.from({ length: addressesPerCounterpartyMax }, (_, i) => ethereum(`many ${i}`))
    const { id } = await createOne({ addresses })
    expect((await clerk.post(`${base}/${id}/addresses`, ethereum('one too many'))).status).toBe(409)
    expect(
      (await clerk.post(base, { name: 'x', kind: 'other', addresses: [...addresses, ethereum('y')] })).status,
    ).toBe(400)
  })

  it('404 for a resource that the vault does not have', async () => {
    const counterparty = await createOne({ addresses: [ethereum('somebody’s')] })
    const { id } = await createOne()
    const url = `${base}/cmi8h2k1p0a1b2c3d4e5f6g7h` as const
    for (const answer of [
      await clerk.get(url),
      await clerk.patch(url, { name: 'x' }),
      await clerk.post(`${url}/archive`),
      await clerk.post(`${url}/addresses`, ethereum('z')),
      await clerk.delete(`${url}/addresses/x`),
      await clerk.delete(`${base}/${id}/addresses/${counterparty.addresses[0]!.id}`),
      await clerk.patch(`${base}/${id}`, { removeAddressIds: [counterparty.addresses[0]!.id] }),
    ]) {
      expect(answer.status).toBe(404)
    }
    expect((await clerk.get(`${base}/${counterparty.id}`)).body).toEqual(counterparty)
  })

  it('400 for a step reference outside a chain', async () => {
    const { id } = await createOne()
    expect((await clerk.patch(`${base}/${id}`, { name: '$step:0' })).status).toBe(400)
    expect((await clerk.patch(`${base}/$step:0`, { name: 'x' })).status).toBe(400)
  })
})

describe('races', () => {
  it('an address that is added to two counterparties at once belongs to one of them', async () => {
    const bodies = Array.from({ length: 6 }, (_, i) => ({
      name: `Racer ${i}`,
      kind: 'company',
      addresses: [ethereum('raced 1'), ethereum('raced 2')].toSorted(() => (i % 2 === 0 ? 1 : -1)),
    }))
    const answers = await Promise.all(bodies.map((body) => clerk.post(base, body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    expect((await clerk.get(`${base}?search=Racer`)).body.items).toHaveLength(1)
  })

  it('archiving and adding an address at once add no address after the archiving', async () => {
    for (let i = 0; i < 5; i += 1) {
      const { id } = await createOne()
      const [archived, added] = await Promise.all([
        clerk.post(`${base}/${id}/archive`),
        clerk.post(`${base}/${id}/addresses`, ethereum(`archive race ${i}`)),
      ])
      const { body } = await clerk.get(`${base}/${id}`)
      expect([201, 409]).toContain(added.status)
      expect(body.addresses).toHaveLength(added.status === 201 ? 1 : 0)
      expect([200, 409]).toContain(archived.status)
      expect(body.version).toBe(1 + [archived, added].filter(({ status }) => status < 300).length)
    }
  })
})

describe('chains', () => {
  it('create a counterparty and a group, and add the counterparty to the group', async () => {
    const { status, body } = await composite(clerk, [
      { action: 'counterparty_create', payload: { name: 'Chained', kind: 'company' } },
      { action: 'counterparty_group_create', payload: { code: 'chained', name: 'Chained' } },
      { action: 'counterparty_group_add', targetId: '$step:1', payload: { counterpartyId: '$step:0' } },
      { action: 'counterparty_update', targetId: '$step:0', payload: { addAddresses: [ethereum('chained')] } },
      { action: 'counterparty_update', targetId: '$step:0', payload: { description: 'twice in one chain' } },
    ])
    expect(status, JSON.stringify(body)).toBe(200)
    const made = (await clerk.get(`${base}/${body.results[0]!.resultId}`)).body
    expect(made).toMatchObject({
      version: 3,
      description: 'twice in one chain',
      groups: [{ code: 'chained' }],
      addresses: [ethereum('chained')],
    })
  })

  it('T37 leave nothing when a later step fails, and name the step', async () => {
    const steps = [
      { action: 'counterparty_create', payload: { name: 'Never', kind: 'company', addresses: [ethereum('never')] } },
      { action: 'counterparty_create', payload: { name: 'Never', kind: 'company', addresses: [ethereum('never')] } },
    ]
    expect((await composite(clerk, steps)).status).toBe(409)
    expect((await clerk.get(`${base}?search=Never`)).body.items).toEqual([])
    const wrong = await composite(clerk, [
      steps[0]!,
      { action: 'counterparty_group_add', targetId: '$step:0', payload: { counterpartyId: '$step:0' } },
    ])
    expect([wrong.status, wrong.body.details[0]!.field]).toEqual([400, 'steps.1.targetId'])
    const path = await composite(clerk, [{ action: 'counterparty_create', payload: { name: 'x', kind: 'bank' } }])
    expect([path.status, path.body.details[0]!.field]).toEqual([400, 'steps.0.payload.kind'])
    const target = await composite(clerk, [{ action: 'counterparty_update', payload: { name: 'x' } }])
    expect([target.status, target.body.details[0]!.field]).toEqual([400, 'steps.0.targetId'])
    const stray = await composite(clerk, [
      { action: 'counterparty_create', targetId: 'x', payload: { name: 'x', kind: 'company' } },
    ])
    expect([stray.status, stray.body.details[0]!.field]).toEqual([400, 'steps.0.targetId'])
  })
})

describe('policies', () => {
  it('deny actions that no policy allows, even to administrators, and leave a record', async () => {
    const { id, addresses } = await createOne({ addresses: [ethereum('guarded')] })
    for (const by of [approver, vault.admin]) {
      for (const answer of [
        await by.post(base, { name: 'x', kind: 'company' }),
        await by.patch(`${base}/${id}`, { name: 'x' }),
        await by.post(`${base}/${id}/archive`),
        await by.post(`${base}/${id}/addresses`, ethereum('more')),
        await by.delete(`${base}/${id}/addresses/${addresses[0]!.id}`),
      ]) {
        expect(answer.status).toBe(403)
      }
    }
    expect((await clerk.get(`${base}/${id}`)).body.version).toBe(1)
    const refusals = await test.deps.db
      .selectFrom('audit_records')
      .select('id')
      .where('action', '=', 'action.refused')
      .where('target_id', '=', id)
      .execute()
    expect(refusals).toHaveLength(8)
  })

  it('see the kind of a new counterparty, and the kind, age and groups of a changed one', async () => {
    const block = (code: string, actionType: string, selectorType: string, value: unknown) =>
      createPolicy(vault, {
        code,
        name: code,
        actionType,
        effect: 'block',
        blockReason: code,
        rules: [{ conditionType: 'require', selectors: [{ selectorType, value }] }],
      })
    const watched = await clerk.post('/vaults/main-vault/counterparty-groups', { code: 'watched', name: 'Watched' })
    const member = await createOne()
    await clerk.post(`/vaults/main-vault/counterparty-groups/${watched.body.id}/members`, { counterpartyId: member.id })
    const named = await createOne()
    await block('no-individuals', 'counterparty_create', 'counterpartyKind', 'individual')
    await block('not-this-one', 'counterparty_update', 'counterparty', named.id)
    await block('not-the-watched', 'counterparty_archive', 'counterpartyGroup', watched.body.id)
    await block('too-old', 'counterparty_update', 'counterpartyAgeHours', { op: 'gt', value: '500' })
    const reason = async (answer: Promise<Answer>) => (await answer).body.message

    expect(await reason(clerk.post(base, { name: 'x', kind: 'individual' }))).toBe('no-individuals')
    expect(await reason(clerk.patch(`${base}/${named.id}`, { name: 'x' }))).toBe('not-this-one')
    expect(await reason(clerk.post(`${base}/${member.id}/archive`))).toBe('not-the-watched')
    expect((await clerk.patch(`${base}/${member.id}`, { name: 'Still young' })).status).toBe(200)
    await test.deps.db
      .updateTable('counterparties')
      .set({ created_at: new Date(test.clock.now().getTime() - 501 * 3_600_000) })
      .where('id', '=', member.id)
      .execute()
    expect(await reason(clerk.patch(`${base}/${member.id}`, { name: 'Old by now' }))).toBe('too-old')
    // The counterparty of an earlier step does not exist yet, so a policy that blocks any counterparty blocks this one.
    const chain = composite(clerk, [
      { action: 'counterparty_create', payload: { name: 'x', kind: 'company' } },
      { action: 'counterparty_update', targetId: '$step:0', payload: { name: 'y' } },
    ])
    expect(await reason(chain)).toBe('not-this-one')
  })

  describe('that ask for a vote', () => {
    let requester: Person
    beforeAll(async () => {
      requester = await addMember(test, vault, 'requester@example.org', ['requesters'])
      for (const verb of ['create', 'update', 'archive']) {
        await createPolicy(vault, {
          groupId: await ensureGroup(vault, 'requesters'),
          code: `requesters-${verb}`,
          name: 'Somebody else looks',
          actionType: `counterparty_${verb}`,
          effect: 'requireApproval',
          approvalThreshold: 1,
          approvers: [{ kind: 'group', groupId: await ensureGroup(vault, 'approvers') }],
        })
      }
    })
    const approve = (answer: Answer<{ request: ApprovalRequest }>) => {
      expect(answer.status, JSON.stringify(answer.body)).toBe(202)
      return approver.post(`/vaults/main-vault/approval-requests/${answer.body.request.id}/approve`)
    }

    it('are carried out after it, in the name of the requester', async () => {
      const requested = await requester.post(base, { name: 'Waits', kind: 'service', addresses: [ethereum('waits')] })
      expect(requested.body.request).toMatchObject({ action: 'counterparty_create', targetType: 'counterparty' })
      expect((await clerk.get(`${base}?search=Waits`)).body.items).toEqual([])
      const { body } = await approve(requested)
      expect(body.status).toBe('applied')
      const made = (await clerk.get(`${base}/${body.resolvedResultId}`)).body
      expect(made).toMatchObject({ name: 'Waits', addresses: [{ address: fakeAddress('waits') }] })
      expect((await lastAudit(made.id)).actorId).toBe(requester.userId)

      const added = await requester.post(`${base}/${made.id}/addresses`, ethereum('waits too'))
      expect((await approve(added)).body.status).toBe('applied')
      const removed = await requester.delete(`${base}/${made.id}/addresses/${made.addresses[0]!.id}`)
      expect((await approve(removed)).body.status).toBe('applied')
      expect((await clerk.get(`${base}/${made.id}`)).body).toMatchObject({
        version: 3,
        addresses: [{ address: fakeAddress('waits too') }],
      })
    })

    it('T38 do nothing once the target is another version', async () => {
      const { id } = await createOne({ name: 'Moved on' })
      const requested = await requester.patch(`${base}/${id}`, { name: 'From the old version' })
      expect(requested.body.request.baseVersion).toBe('1')
      await clerk.patch(`${base}/${id}`, { description: 'new' })
      expect((await approve(requested)).status).toBe(409)
      const request = await requester.get(`/vaults/main-vault/approval-requests/${requested.body.request.id}`)
      expect(request.body.status).toBe('stale')
      expect((await clerk.get(`${base}/${id}`)).body).toMatchObject({ name: 'Moved on', version: 2 })
    })

    it('fail when an address was given to somebody else meanwhile', async () => {
      const requested = await requester.post(base, {
        name: 'Late',
        kind: 'company',
        addresses: [ethereum('contested')],
      })
      await createOne({ addresses: [ethereum('contested')] })
      expect((await approve(requested)).status).toBe(409)
      const request = await requester.get(`/vaults/main-vault/approval-requests/${requested.body.request.id}`)
      expect(request.body.status).toBe('failed')
      expect((await clerk.get(`${base}?search=Late`)).body.items).toEqual([])
    })
  })
})

describe('T39 access', () => {
  it('is for members of the vault only, and reveals nothing about ids of other vaults', async () => {
    const counterparty = await createOne({ addresses: [ethereum('private')] })
    const other = await createVaultFixture(test, { code: 'other-vault', adminEmail: 'other@example.org' })
    for (const verb of ['create', 'update', 'archive']) await allowAll(other, `counterparty_${verb}`)
    const outsider = other.admin
    const calls = (
      client: Pick<Person, 'get' | 'post' | 'patch' | 'delete'>,
      url: `/vaults/${string}/counterparties`,
    ) =>
      Promise.all([
        client.get(url),
        client.post(url, { name: 'x', kind: 'company' }),
        client.get(`${url}/${counterparty.id}`),
        client.patch(`${url}/${counterparty.id}`, { name: 'x' }),
        client.post(`${url}/${counterparty.id}/archive`),
        client.post(`${url}/${counterparty.id}/addresses`, ethereum('y')),
        client.delete(`${url}/${counterparty.id}/addresses/${counterparty.addresses[0]!.id}`),
      ])
    const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status)
    expect(statuses(await calls(test.anonymous, base))).toEqual(Array(7).fill(401))
    expect(statuses(await calls(outsider, base))).toEqual(Array(7).fill(403))
    expect(statuses(await calls(outsider, '/vaults/nowhere/counterparties'))).toEqual(Array(7).fill(404))
    expect(statuses(await calls(outsider, '/vaults/other-vault/counterparties'))).toEqual([
      200, 201, 404, 404, 404, 404, 404,
    ])
    // The same on-chain address may be known to several vaults.
    const shared = await outsider.post('/vaults/other-vault/counterparties', {
      name: 'Shared',
      kind: 'company',
      addresses: [ethereum('private')],
    })
    expect(shared.status).toBe(201)
    expect((await clerk.get(`${base}/${counterparty.id}`)).body).toEqual(counterparty)
  })
})
