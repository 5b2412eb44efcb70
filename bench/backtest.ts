import { setTimeout as sleep } from 'node:timers/promises'
import { decideFrom } from '../server/src/modules/rules/decisions/decide.ts'
import type { PolicySnapshot } from '../server/src/modules/rules/decisions/decision.ts'
import type { Facts } from '../server/src/modules/rules/selectors/facts.ts'
import { planningSeconds } from './lib/planning.ts'
import { cpuSecondsOf } from './lib/processes.ts'
import { runOnStack } from './lib/run-bench.ts'
import type { Stack } from './lib/stack.ts'
import { createWorld, type World } from './lib/world.ts'

/**
 * Compares the time of a backtest of many decisions with the time of the evaluator alone. The backtest counts from the
 * request to the result; the evaluator has the facts of the decisions in memory. The decisions are copies of a decision
 * that the service made, with different amounts. BENCH_DECISIONS sets the number of decisions, BENCH_POLICIES the
 * number of policies that are tried.
 */
const decisions = Number(process.env.BENCH_DECISIONS ?? 100_000)
const policiesCount = Number(process.env.BENCH_POLICIES ?? 20)
const from = '2026-01-01T00:00:00.000Z'

type Backtest = {
  id: string
  status: string
  failure: string | null
  decisionsCount: number
  result: { evaluated: number; same: Sum; stricter: Sum; looser: Sum; undecidable: Sum } | null
}
type Sum = { count: number; usdValue: string }

await runOnStack(async ({ record, stack }) => {
  const world = await createWorld(stack, { vaults: 1, spread: 1, funded: 1 })
  const facts = await fill(stack, world)
  const drafts = await policiesOf(world)
  record.add('decisions', '', decisions)
  record.add('policies that are tried', '', policiesCount)
  const first = evaluate(facts, drafts)
  const cpuBefore = cpuSecondsOf(stack.nodePid)
  const seconds = await backtest(world, drafts)
  const cpu = cpuSecondsOf(stack.nodePid) - cpuBefore
  // The evaluator is measured before and after the backtest, because a later measurement finds a warmer machine.
  const second = evaluate(facts, drafts)
  const plain = { seconds: (first.seconds + second.seconds) / 2, cpu: (first.cpu + second.cpu) / 2 }
  record.add('plain evaluation of as many', 's', plain.seconds)
  record.add('  CPU', 's', plain.cpu)
  record.add('backtest, from the request to the result', 's', seconds)
  record.add('  of the plain evaluation', '', seconds / plain.seconds)
  record.add('  CPU of the service', 's', cpu)
  record.add('  CPU of the service, of the plain evaluation', '', cpu / plain.cpu)
  const planning = planningSeconds(1_000, 100)
  record.add('plan of 1,000 policies and 100 groups, all of which change', 's', planning)
  record.add('  of the plain evaluation of 1,000 decisions', '', planning / ((plain.seconds * 1_000) / decisions))
  record.expect('plan', planning)
  record.expect('backtest', seconds)
  await world.close()
})

type Draft = { groupId: string; effect: 'allow' | 'block' | 'requireApproval' } & Record<string, unknown>

/** Creates policies with limits of every kind that needs no sum. Most of them do not match. */
async function policiesOf({ call, admin, vault }: World): Promise<Draft[]> {
  const { items } = (await call(admin, 'GET', `/vaults/${vault.code}/policy-groups?limit=100`)) as {
    items: { id: string; code: string }[]
  }
  const groupId = items.find(({ code }) => code === 'everyone')!.id
  const selectors = [
    { selectorType: 'amount', value: { op: 'gt', value: '50000' } },
    { selectorType: 'percentOfBalance', value: { op: 'gt', value: '50' } },
    { selectorType: 'destinationType', value: ['unknown'] },
    { selectorType: 'firstPaymentToDestination', value: true },
    { selectorType: 'addressLookAlike', value: true },
    { selectorType: 'initiatorKind', value: 'service' },
    { selectorType: 'network', value: 'ethereum' },
    {
      selectorType: 'time',
      value: { timezone: 'Europe/Berlin', days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' },
    },
  ]
  return Array.from({ length: policiesCount }, (_, i) => {
    const effect = (['allow', 'block', 'requireApproval'] as const)[i % 3]!
    const [first, second] = [selectors[i % selectors.length]!, selectors[(i * 3 + 1) % selectors.length]!]
    return {
      ...{ groupId, code: `tried-${i}`, name: `Tried ${i}`, actionType: 'transfer', effect },
      ...(effect === 'requireApproval' ? { approvalThreshold: 1 } : {}),
      rules: [{ conditionType: 'require', selectors: [first, second, selectors[0]!] }],
    }
  })
}

/** Inserts copies of a transfer over a month, a tenth of them large. Returns their facts. */
async function fill(stack: Stack, { vault }: World): Promise<Facts[]> {
  const [model] = await stack.sql<{ id: string }>(
    `select t.id from transfers t where t.vault_id = $1 and t.payout_id is null order by t.id limit 1`,
    [vault.id],
  )
  for (const table of ['operations', 'transfers']) {
    const columns = await stack.sql<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
      [table],
    )
    const values = columns.map(({ name }) => {
      if (name === 'id') return `'cbench' || lpad(i::text, 19, '0')`
      if (name === 'created_at') return `'${from}'::timestamptz + i * interval '20 seconds'`
      if (name === 'decision')
        return `jsonb_set(jsonb_set(m.decision, '{facts,amount}', to_jsonb((i % 100000)::text)), '{facts,now}',
          to_jsonb(to_char('${from}'::timestamptz at time zone 'UTC' + i * interval '20 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`
      // A finished operation starts no further work.
      if (name === 'status') return `'cancelled'`
      if (name === 'phase') return `'done'`
      return `m.${name}`
    })
    await stack.sql(`alter table ${table} disable trigger user`)
    await stack.sql(
      `insert into ${table} (${columns.map(({ name }) => name).join()})
       select ${values.join()} from ${table} m, generate_series(1, $3) i where m.vault_id = $1 and m.id = $2`,
      [vault.id, model!.id, decisions],
    )
    await stack.sql(`alter table ${table} enable trigger user`)
  }
  await stack.sql('vacuum analyze')
  const rows = await stack.sql<{ facts: Omit<Facts, 'now'> & { now: string } }>(
    `select decision -> 'facts' as facts from transfers where vault_id = $1 and id like 'cbench%'`,
    [vault.id],
  )
  return rows.map(({ facts }) => ({ ...facts, now: new Date(facts.now) }))
}

/** Returns the duration of the evaluator alone, and its CPU time, in seconds. */
function evaluate(facts: Facts[], drafts: Draft[]): { seconds: number; cpu: number } {
  const policies = drafts.map(
    (draft, i): PolicySnapshot =>
      ({
        ...{
          blockReason: null,
          approvalThreshold: 0,
          adminBypass: false,
          allowInitiatorApproval: false,
          approvers: [],
        },
        ...{ id: `p${i}`, ...draft },
      }) as unknown as PolicySnapshot,
  )
  const began = performance.now()
  const before = process.cpuUsage()
  let allowed = 0
  for (const factsOfDecision of facts)
    if (decideFrom(policies, factsOfDecision, { isAdmin: false }).effect === 'allow') allowed += 1
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(before)
  console.log(`${allowed} of ${facts.length} are allowed`)
  return { seconds, cpu: (user + system) / 1e6 }
}

async function backtest({ call, admin, vault }: World, policies: Draft[]): Promise<number> {
  const url = `/vaults/${vault.code}/policies`
  const began = performance.now()
  let found = (await call(admin, 'POST', `${url}/backtest`, { policies, from })) as Backtest
  while (found.status === 'queued' || found.status === 'running') {
    await sleep(100)
    found = (await call(admin, 'GET', `${url}/backtests/${found.id}`)) as Backtest
  }
  const seconds = (performance.now() - began) / 1_000
  if (found.result === null) throw new Error(`${found.status}: ${found.failure}`)
  const { evaluated, same, stricter, looser, undecidable } = found.result
  if (evaluated < decisions) throw new Error(`${evaluated} decisions were evaluated`)
  console.log(
    `same ${same.count}, stricter ${stricter.count}, looser ${looser.count}, undecidable ${undecidable.count}`,
  )
  return seconds
}
