import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address, Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, createVaultFixture } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { actionTypes } from '../../rules/selectors/facts.ts'

let bench: TransferBench
let address: Address
let stranger: Person

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress()
  stranger = (await createVaultFixture(bench.test, { code: 'other-vault', adminEmail: 'other@example.org' })).admin
  const limit = { op: 'gt', value: '500', windowSeconds: 86_400, per: 'vault' }
  await bench.policy({
    code: 'daily',
    effect: 'block',
    blockReason: 'Enough for today',
    rules: [{ conditionType: 'require', selectors: [{ selectorType: 'velocityAmount', value: limit }] }],
  })
  await bench.policy({
    code: 'payroll-addresses',
    actionType: 'create_address',
    effect: 'block',
    rules: [
      {
        conditionType: 'require',
        selectors: [{ selectorType: 'routeVariant', value: { route: 'purpose', variant: 'payroll' } }],
      },
    ],
  })
})
afterAll(() => bench.close())

const transfer = (amount: string) => ({
  actionType: 'transfer',
  payload: { fromAddressId: address.id, toAddress: bench.recipient, amount },
})
const simulate = (by: Person, body: object) => by.post('/vaults/main-vault/policies/simulate', body)
const faultsOf = ({ status, body }: Answer) => [status, body.details?.map(({ field }) => field)]

describe('simulating', () => {
  it('a transfer returns effect, deciding policy, requirements and trace, and changes nothing', async () => {
    const tables = (
      await bench.sql(`select relname from pg_stat_user_tables where schemaname = 'public' order by 1`)
    ).map(({ relname }) => relname!)
    expect(tables).toContain('audit_records')
    const countAll = async () =>
      Object.fromEntries(await Promise.all(tables.map(async (name) => [name, await bench.count(name)])))
    const before = await countAll()
    const sequence = 'select last_value::text from ledger_entries_sequence_seq'
    const [sequenceBefore] = await bench.sql(sequence)

    const allowed = await simulate(bench.owner, transfer('50'))
    expect(allowed.body).toMatchObject({
      effect: 'allow',
      blockReason: null,
      decisionPolicy: { code: 'small' },
      requirements: [],
    })
    expect(allowed.body.trace.map(({ policyCode, matched }) => [policyCode, matched])).toEqual([
      ['small', true],
      ['large', false],
      ['absurd', false],
      ['daily', false],
    ])
    const asking = await simulate(bench.owner, transfer('200'))
    expect(asking.body).toMatchObject({
      effect: 'approval',
      decisionPolicy: { code: 'large' },
      requirements: [{ policyCode: 'large', threshold: 2, bypassed: false }],
    })
    expect((await simulate(bench.owner, transfer('501'))).body).toMatchObject({
      effect: 'block',
      blockReason: 'Enough for today',
    })
    expect(await countAll()).toEqual(before)
    expect(await bench.sql(sequence)).toEqual([sequenceBefore])
  })

  it('a transfer reports whether the balance suffices, whatever the policies decide', async () => {
    const { available } = await bench.balances(address.id)
    expect(available).toBe('1000')
    const fundsOf = async (amount: string) => (await simulate(bench.owner, transfer(amount))).body.funds
    expect(await fundsOf('1000')).toEqual({ available: '1000', missing: '0' })
    const short = (await simulate(bench.owner, transfer('1000.25'))).body
    expect([short.effect, short.funds]).toEqual(['block', { available: '1000', missing: '0.25' }])
    const empty = await bench.fundedAddress({ usdt: '0' })
    const payload = { fromAddressId: empty.id, toAddress: bench.recipient, amount: '50' }
    const { body } = await simulate(bench.owner, { actionType: 'transfer', payload })
    expect([body.effect, body.funds]).toEqual(['allow', { available: '0', missing: '50' }])
    expect((await bench.order(empty.id, '50')).status).toBe(409)
    const order = { actionType: 'create_address', payload: { network: 'ethereum', segments: { purpose: 'ops' } } }
    expect((await simulate(bench.owner, order)).body.funds).toBeNull()
  })

  it('for another member is for administrators, who see every figure', async () => {
    const answer = await simulate(bench.vault.admin, { ...transfer('50'), initiatorId: bench.firstApprover.userId })
    expect(answer.body.effect).toBe('allow')
    const daily = answer.body.trace.find(({ policyCode }) => policyCode === 'daily')
    expect(daily!.rules[0]!.selectors[0]).toMatchObject({ matched: false, observed: '50' })
    const ownSimulation = await simulate(bench.owner, { ...transfer('50'), initiatorId: bench.owner.userId })
    expect(ownSimulation.body.trace.at(-1)!.rules[0]!.selectors[0]!.observed).toBeNull()
  })

  it('uses the groups of the initiator, not those of the caller', async () => {
    const outsider = await addMember(bench.test, bench.vault, 'outsider@example.org', ['outsiders'])
    const group = (await bench.vault.admin.get('/vaults/main-vault/policy-groups?limit=100')).body.items.find(
      ({ code }) => code === 'outsiders',
    )
    const created = await bench.vault.admin.post(`/policy-groups/${group!.id}/policies`, {
      code: 'no-outsiders',
      name: 'Outsiders pay nothing',
      actionType: 'transfer',
      effect: 'block',
    })
    expect(created.status).toBe(201)
    const asAdmin = (initiatorId: string) => simulate(bench.vault.admin, { ...transfer('50'), initiatorId })
    expect((await asAdmin(outsider.userId)).body.effect).toBe('block')
    expect((await asAdmin(bench.owner.userId)).body.effect).toBe('allow')
  })

  it('an address reads its segments', async () => {
    const order = (purpose: string) => ({
      actionType: 'create_address',
      payload: { network: 'ethereum', segments: { purpose } },
    })
    expect((await simulate(bench.owner, order('ops'))).body.effect).toBe('allow')
    expect((await simulate(bench.owner, order('payroll'))).body.effect).toBe('block')
    const real = await bench.owner.post('/vaults/main-vault/addresses', order('payroll').payload)
    expect(real.status).toBe(403)
  })
})

describe('simulating an action on counterparties', () => {
  const rule = (selectorType: string, value: unknown) => [
    { conditionType: 'require', selectors: [{ selectorType, value }] },
  ]
  const made = async (path: string, body: object) => {
    const answer = await bench.vault.admin.post(`/vaults/main-vault/${path}`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body.id as string
  }

  it('applies each selector to the target, or to the created object', async () => {
    for (const actionType of actionTypes.filter((name) => name.startsWith('counterparty_'))) {
      await bench.policy({ code: `may-${actionType}`, actionType, effect: 'allow' })
    }
    const venue = await made('counterparties', { name: 'A venue', kind: 'exchange' })
    const firm = await made('counterparties', { name: 'A firm', kind: 'company' })
    const trusted = await made('counterparty-groups', { code: 'trusted', name: 'Trusted' })
    const fresh = await made('counterparty-groups', { code: 'fresh', name: 'Fresh' })
    await bench.vault.admin.post(`/vaults/main-vault/counterparty-groups/${trusted}/members`, { counterpartyId: firm })
    const block = (actionType: string, selectorType: string, value: unknown) =>
      bench.policy({
        code: `no-${actionType}-${selectorType.toLowerCase()}`,
        actionType,
        effect: 'block',
        rules: rule(selectorType, value),
      })
    await block('counterparty_create', 'counterpartyKind', 'individual')
    await block('counterparty_update', 'counterpartyKind', 'exchange')
    await block('counterparty_archive', 'counterpartyGroup', trusted)
    await block('counterparty_group_archive', 'counterpartyGroup', trusted)
    await block('counterparty_group_add', 'counterpartyAgeHours', { op: 'lt', value: '24' })
    await block('counterparty_group_remove', 'counterparty', firm)

    const effect = async (actionType: string, payload: object, targetId?: string) =>
      (await simulate(bench.owner, { actionType, payload, ...(targetId === undefined ? {} : { targetId }) })).body
        .effect
    expect([
      await effect('counterparty_create', { name: 'X', kind: 'individual' }),
      await effect('counterparty_create', { name: 'X', kind: 'company' }),
      await effect('counterparty_update', { name: 'X' }, venue),
      await effect('counterparty_update', { name: 'X' }, firm),
      await effect('counterparty_archive', {}, firm),
      await effect('counterparty_archive', {}, venue),
      await effect('counterparty_group_archive', {}, trusted),
      await effect('counterparty_group_archive', {}, fresh),
      await effect('counterparty_group_remove', { counterpartyId: firm }, trusted),
      await effect('counterparty_group_add', { counterpartyId: venue }, fresh),
    ]).toEqual(['block', 'allow', 'block', 'allow', 'block', 'allow', 'block', 'allow', 'block', 'block'])
    bench.test.clock.advance(24 * 3_600_000)
    expect(await effect('counterparty_group_add', { counterpartyId: venue }, fresh)).toBe('allow')
    expect((await bench.owner.get(`/vaults/main-vault/counterparties/${venue}`)).body).toMatchObject({
      name: 'A venue',
      archivedAt: null,
    })
    const missing = await simulate(bench.owner, { actionType: 'counterparty_archive', payload: {}, targetId: 'nobody' })
    expect(missing.status).toBe(404)
  })

  it('refuses a transfer to an archived counterparty like the order', async () => {
    const gone = fakeAddress('gone')
    const addresses = [{ network: 'ethereum', address: gone }]
    const id = await made('counterparties', { name: 'Gone', kind: 'company', addresses })
    const order = { ...transfer('50').payload, toAddress: gone }
    const answers = async () => [
      await simulate(bench.owner, { actionType: 'transfer', payload: order }),
      await bench.owner.post('/vaults/main-vault/transfers', order),
    ]
    expect((await answers()).map(({ status }) => status)).toEqual([200, 201])
    expect((await bench.vault.admin.post(`/vaults/main-vault/counterparties/${id}/archive`)).status).toBe(200)
    for (const { status, body } of await answers()) {
      expect([status, body.message]).toEqual([409, 'The counterparty is archived'])
    }
  })
})

describe('faults', () => {
  it('have their path within the request', async () => {
    const { actionType, payload } = transfer('50')
    const cases: [object, (string | undefined)[]][] = [
      [{ actionType, payload: { ...payload, amount: 5 } }, ['payload.amount']],
      [{ actionType, payload: { ...payload, amount: '0' } }, ['payload.amount']],
      [{ actionType, payload: { ...payload, ammount: '5' } }, ['payload.ammount']],
      [{ actionType, payload: { ...payload, toAddress: 'x' } }, ['payload.toAddress']],
      [{ actionType, payload, targetId: 'x' }, ['targetId']],
      [{ actionType, payload, initiator: 'x' }, ['initiator']],
      [{ actionType: 'constructor', payload }, ['actionType']],
      [{ actionType }, ['payload']],
      [{ actionType: 'create_address', payload: { network: 'ethereum' } }, ['payload.segments']],
      [{ actionType: 'create_address', payload: { network: 'nowhere', segments: {} } }, ['payload.network']],
    ]
    for (const [body, fields] of cases) {
      expect(faultsOf(await simulate(bench.owner, body)), JSON.stringify(body)).toEqual([400, fields])
    }
    const unknown = await simulate(bench.vault.admin, { ...transfer('1'), initiatorId: 'nobody' })
    expect(faultsOf(unknown)).toEqual([400, ['initiatorId']])
  })
})

describe('security', () => {
  it('T39 nobody simulates for others, in other vaults, or with hidden addresses', async () => {
    const forOther = await simulate(bench.owner, { ...transfer('1'), initiatorId: bench.firstApprover.userId })
    expect(forOther.status).toBe(403)
    const forNobody = await simulate(bench.owner, { ...transfer('1'), initiatorId: 'nobody' })
    expect(forNobody.status).toBe(403)
    expect((await simulate(bench.firstApprover, transfer('1'))).status).toBe(404)
    expect((await simulate(stranger, transfer('1'))).status).toBe(403)
    const elsewhere = await stranger.post('/vaults/other-vault/policies/simulate', transfer('1'))
    expect(elsewhere.status).toBe(404)
    expect((await bench.test.anonymous.post('/vaults/main-vault/policies/simulate', transfer('1'))).status).toBe(401)
  })
})
