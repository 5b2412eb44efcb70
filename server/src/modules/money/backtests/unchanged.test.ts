import { expect, it } from 'vitest'
import type { Address, PolicyListItem } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { createRandom } from '../../../testing/random.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

const campaign = campaignOf('BACKTEST', { runs: 3, seed: 1 })
const seeds = Array.from({ length: campaign.runs }, (_, i) => campaign.seed + i)

/** Returns choices that a seed determines. */
function choicesOf(seed: number) {
  const { below } = createRandom(seed)
  return {
    int: (from: number, to: number) => from + below(to - from + 1),
    pick: <Item>(items: readonly Item[]): Item => items[below(items.length)]!,
  }
}
type Random = ReturnType<typeof choicesOf>

it.each(seeds)('T34 the rules of a decision decide the same again, in organisation %i', async (seed) => {
  const random = choicesOf(seed)
  const bench = await createTransferBench()
  try {
    const organisation = await found(bench, random)
    for (let step = 0; step < 60; step += 1) await live(bench, organisation, random)
    const { admin } = bench.vault
    const ask = async (body: object) => {
      const answer = await admin.post('/vaults/main-vault/policies/backtest', { from: '2020-01-01', ...body })
      expect(answer.status, JSON.stringify(answer.body)).toBe(202)
      const { id, result } = answer.body
      const { items } = (await admin.get(`/vaults/main-vault/policies/backtests/${id}/changes?limit=3`)).body
      return { result, items }
    }
    const saved = await allPolicies(admin)
    const renamed = {
      action: 'policy_group_update',
      targetId: organisation.groups[0],
      payload: { name: 'Another name' },
    }
    const set = await admin.post('/vaults/main-vault/change-sets', { title: 'Name', changes: [renamed] })
    for (const body of [
      { draft: { mode: 'add', policies: [] } },
      { policies: saved.map(toBody) },
      { changeSetId: set.body.id },
    ]) {
      const { result, items } = await ask(body)
      expect(items).toEqual([])
      expect(result!.evaluated).toBeGreaterThan(20)
      expect(result!.same.count).toBe(result!.evaluated)
    }
    // A different decision is detected.
    const everything = [...new Set(saved.map(({ actionType }) => actionType))].map((actionType, i) => ({
      ...{ groupId: bench.vault.groups.everyone, code: `halt-${i}`, name: 'Halt', actionType, effect: 'block' },
    }))
    const { result } = await ask({ policies: everything })
    expect(result!.looser.count).toBe(0)
    expect(result!.stricter.count).toBeGreaterThan(0)
  } finally {
    await bench.close()
  }
})

type Organisation = {
  people: Person[]
  groups: string[]
  sources: Address[]
  suppliers: string[]
  payees: string[]
}

async function found(bench: TransferBench, random: Random): Promise<Organisation> {
  const { vault, test } = bench
  const codes = ['treasury', 'approvers', 'compliance']
  const groups = await Promise.all(codes.map((code) => ensureGroup(vault, code)))
  const people = [bench.owner]
  for (let n = 0; n < 3; n += 1)
    people.push(await addMember(test, vault, `person.${n}@example.org`, [random.pick(codes), 'treasury']))
  const sources: Address[] = []
  for (const person of people) sources.push(await bench.fundedAddress({ usdt: '100000' }, person))
  const { everyone } = vault.groups
  for (const actionType of ['counterparty_create', 'counterparty_update'])
    for (const effect of ['allow', 'requireApproval'])
      await vault.admin.post(`/policy-groups/${random.pick([everyone, groups[0]!])}/policies`, {
        ...{ code: `${actionType.replace('_', '-')}-${effect.toLowerCase()}`, name: actionType, actionType, effect },
        ...(effect === 'allow' ? {} : { approvalThreshold: 1, rules: [rule(random, ['initiatorKind', 'time'], [])] }),
      })
  for (let n = 0; n < 8; n += 1) {
    const effect = random.pick(['allow', 'block', 'requireApproval'])
    const answer = await vault.admin.post(`/policy-groups/${random.pick([everyone, ...groups])}/policies`, {
      ...{ code: `p-${n}`, name: `Policy ${n}`, actionType: 'transfer', effect },
      ...(effect === 'requireApproval' ? { approvalThreshold: random.int(1, 2) } : {}),
      adminBypass: effect === 'requireApproval' && random.int(0, 1) === 1,
      rules: Array.from({ length: random.int(effect === 'block' ? 2 : 1, 2) }, () =>
        rule(random, Object.keys(values), groups),
      ),
    })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  }
  return { people, groups, sources, suppliers: [], payees: [bench.recipient, fakeAddress('somebody else')] }
}

const bound = (random: Random, max: number) => ({ op: random.pick(['gt', 'lte']), value: String(random.int(1, max)) })
const limit = (random: Random, max: number) => ({
  ...bound(random, max),
  windowSeconds: random.pick([3_600, 86_400]),
  per: random.pick(['vault', 'initiator', 'sourceAddress', 'destination']),
})

const values: Record<string, (random: Random, groups: string[]) => unknown> = {
  amount: (random) => bound(random, 300),
  amountUsd: (random) => bound(random, 300),
  percentOfBalance: (random) => bound(random, 2),
  maxFee: (random) => bound(random, 2),
  velocityAmount: (random) => limit(random, 3_000),
  velocityUsd: (random) => limit(random, 3_000),
  velocityCount: (random) => limit(random, 20),
  destinationType: (random) => random.pick(['internal', 'counterparty', 'unknown']),
  destinationAgeHours: (random) => bound(random, 40),
  counterpartyAgeHours: (random) => bound(random, 40),
  firstPaymentToDestination: (random) => random.int(0, 1) === 1,
  addressLookAlike: (random) => random.int(0, 1) === 1,
  initiatorKind: (random) => random.pick(['person', 'service']),
  initiatorGroup: (random, groups) => random.pick(groups),
  time: (random) => ({
    timezone: 'Europe/Berlin',
    days: ['mon', 'wed', 'sat'],
    from: '08:00',
    to: random.pick(['12:00', '20:00']),
  }),
}

function rule(random: Random, types: string[], groups: string[]) {
  const selectors = Array.from({ length: random.int(1, 2) }, () => {
    const selectorType = random.pick(types)
    return { selectorType, value: values[selectorType]!(random, groups) }
  })
  return { conditionType: random.pick(['require', 'any', 'exclude']), selectors }
}

/** Performs one action: an order, a payout, a change of the address book, of a group or of a rate, or a passage of time. */
async function live(bench: TransferBench, organisation: Organisation, random: Random): Promise<void> {
  const { people, groups, sources, suppliers, payees } = organisation
  const { admin, tokens } = bench.vault
  const at = random.int(0, people.length - 1)
  const [person, source] = [people[at]!, sources[at]!]
  const what = random.int(0, 9)
  if (what === 0) bench.test.clock.advance(random.int(1, 20) * 3_600_000)
  else if (what === 1) {
    const rate = { usdRate: `${random.int(1, 3)}.5`, asOf: bench.test.clock.now().toISOString(), source: 'manual' }
    await admin.post(`/tokens/${tokens.usdt.id}/rates`, rate)
  } else if (what === 2) {
    const address = fakeAddress(`supplier ${random.int(0, 1e9)}`)
    const body = { name: `S${random.int(0, 1e9)}`, kind: 'company', addresses: [{ network: 'ethereum', address }] }
    const { status, body: answer } = await person.post('/vaults/main-vault/counterparties', body)
    if (status !== 403) payees.push(address)
    if (status === 201) suppliers.push(answer.id)
  } else if (what === 3 && suppliers.length > 0) {
    const [id, address] = [random.pick(suppliers), fakeAddress(`another ${random.int(0, 1e9)}`)]
    await person.post(`/vaults/main-vault/counterparties/${id}/addresses`, { network: 'ethereum', address })
    payees.push(address)
  } else if (what === 4) {
    const url = `/policy-groups/${random.pick(groups)}/members` as const
    if (random.int(0, 1) === 1) await admin.post(url, { userId: person.userId })
    else if (at > 0) await admin.delete(`${url}/${person.userId}`)
  } else if (what === 5) {
    const rows = Array.from({ length: random.int(2, 4) }, (_, i) => ({
      ...{ externalId: `${random.int(0, 1e9)}-${i}`, fromAddressId: source.id },
      ...{ toAddress: random.pick(payees), amount: String(random.int(1, 200)) },
    }))
    await person.post('/vaults/main-vault/payouts', { rows })
  } else {
    await bench.order(source.id, String(random.int(1, 400)), { toAddress: random.pick(payees) }, person)
  }
}

async function allPolicies(admin: Person) {
  const { items } = (await admin.get('/vaults/main-vault/policies?limit=100')).body
  return items
}

/** Returns a policy in the form of a request. */
function toBody({ rules, approvers, ...policy }: PolicyListItem) {
  const { groupId, code, name, actionType, effect, blockReason, approvalThreshold, adminBypass, enabled } = policy
  return {
    ...{ groupId, code, name, actionType, effect, blockReason, approvalThreshold, adminBypass, enabled },
    allowInitiatorApproval: policy.allowInitiatorApproval,
    rules: rules.map(({ conditionType, selectors }) => ({
      conditionType,
      selectors: selectors.map(({ selectorType, value }) => ({ selectorType, value })),
    })),
    approvers: approvers.map(({ kind, userId, groupId: id, threshold }) => ({
      ...(kind === 'user' ? { kind, userId } : { kind, groupId: id }),
      ...(threshold === null ? {} : { threshold }),
    })),
  }
}
