import { evaluatePolicy } from '../server/src/modules/rules/decisions/decide.ts'
import type { PolicySnapshot } from '../server/src/modules/rules/decisions/decision.ts'
import type { Facts } from '../server/src/modules/rules/selectors/facts.ts'
import { noteCpu } from './lib/cpu.ts'
import { runBench } from './lib/run-bench.ts'

/**
 * Measures the CPU time of the policies of one transfer: 1,000 candidates, each with two rules and five selectors of
 * every applicable kind. The service parses candidates from the database for every transfer; here the parsing is not
 * measured.
 */
const candidatesCount = 1_000
const rounds = 400

const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const facts = (): Facts => ({
  now: new Date('2026-01-30T09:30:00.000Z'),
  initiatorId: 'first-approver',
  initiatorGroupIds: ['treasurers', 'everyone'],
  token: { id: 'token-1', code: 'USDC' },
  amount: '1000.5',
  usdRate: '0.9998',
  available: '250000.25',
  networkSlug: 'ethereum',
  sourceAddressId: 'address-1',
  sourceAddress: evm,
  routeVariants: [{ route: 'purpose', variant: 'ops' }],
  destination: { address: evm, key: evm.toLowerCase(), networkType: 'evm' },
  destinationType: 'counterparty',
  counterparty: { id: 'supplier', kind: 'company', groupIds: ['trusted'], createdAt: '2026-01-01T00:00:00.000Z' },
  velocity: (['initiator', 'sourceAddress', 'destination', 'vault'] as const).flatMap((per) =>
    [3_600, 86_400].map((windowSeconds) => ({ per, windowSeconds, count: 7, amount: '4200.75', usd: '4199.91' })),
  ),
})

/** A set of addresses, as in a policy that lists permitted recipients. */
const listed = [...Array(20).keys()].map((i) => `0x${(i + 1).toString(16).padStart(40, '0')}`)
const window = { timezone: 'Europe/Berlin', days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' }
const velocity = { op: 'gt', value: '100000', windowSeconds: 86_400 }
const selectors: [selectorType: string, value: unknown][] = [
  ['amount', { op: 'gt', value: '1000' }],
  ['amountUsd', { op: 'between', min: '1000', max: '10000' }],
  ['percentOfBalance', { op: 'lte', value: '50' }],
  ['maxFee', { op: 'lte', value: '0.05' }],
  ['riskScore', { op: 'lt', value: '70' }],
  ['velocityAmount', { ...velocity, per: 'initiator' }],
  ['velocityUsd', { ...velocity, per: 'vault' }],
  ['velocityCount', { op: 'lte', value: '10', windowSeconds: 3_600, per: 'destination' }],
  ['token', ['DAI', 'USDC']],
  ['network', 'ethereum'],
  ['sourceAddress', [evm, 'address-1']],
  ['routeVariant', { route: 'purpose', variant: 'ops' }],
  ['destination', [...listed, evm]],
  ['destinationType', ['internal', 'counterparty']],
  ['counterparty', ['supplier', 'other']],
  ['counterpartyGroup', 'trusted'],
  ['counterpartyKind', 'company'],
  ['counterpartyAgeHours', { op: 'gte', value: '24' }],
  ['initiator', ['first-approver', 'second-approver']],
  ['initiatorGroup', 'treasurers'],
  ['time', window],
]

function candidate(i: number): PolicySnapshot {
  const selectorAt = (j: number) => {
    const [selectorType, value] = selectors[(i + j) % selectors.length]!
    return { id: `s${j}`, selectorType, value }
  }
  const rule = (conditionType: string, from: number, to: number) => ({
    id: `r${from}`,
    conditionType,
    createdAt: '2026-01-01T00:00:00.000Z',
    selectors: [...Array(to - from).keys()].map((j) => selectorAt(from + j)),
  })
  return {
    id: `p${i}`,
    groupId: 'everyone',
    code: `p${i}`,
    name: `Policy ${i}`,
    actionType: 'transfer',
    effect: (['allow', 'block', 'requireApproval'] as const)[i % 3]!,
    blockReason: null,
    approvalThreshold: i % 3 === 2 ? 2 : 0,
    adminBypass: false,
    allowInitiatorApproval: false,
    rules: [rule('require', 0, 3), rule('any', 3, 5)],
    approvers: [],
  }
}

const json = JSON.stringify([...Array(candidatesCount).keys()].map(candidate))
await runBench(async (record) => {
  let matched = 0
  const mean = noteCpu(record, `${candidatesCount} candidates, ${candidatesCount * 5} selectors`, {
    rounds,
    prepare: () => ({ policies: JSON.parse(json) as PolicySnapshot[], fresh: facts() }),
    work({ policies, fresh }) {
      for (const policy of policies) matched += evaluatePolicy(policy, fresh).matched ? 1 : 0
    },
  })
  record.add('  of which match', '', matched / rounds)
  record.expect('policies', mean)
})
