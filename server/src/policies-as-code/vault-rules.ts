import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalJson } from '../lib/canonical-json.ts'
import type { Change } from '../modules/rules/change-sets/governed-actions.ts'
import { planChanges } from '../modules/rules/change-sets/plan-changes.ts'
import { type Difference, differencesOf } from '../modules/rules/rules-versions/difference.ts'
import { type Direction, directionOf } from '../modules/rules/rules-versions/direction.ts'
import type { RulesDocument, RulesPolicy } from '../modules/rules/rules-versions/document-schema.ts'
import type { Api } from './client.ts'
import type { Known, RulesFile } from './rules-file.ts'
import { toDocument } from './to-document.ts'
import type { BacktestCounts } from './words.ts'

type VaultRules = { number: number; document: RulesDocument; known: Known }

const ofVault = (code: string) => `/vaults/${encodeURIComponent(code)}`

/** @throws for a document of another form, which a newer service may have */
export async function fetchRules(api: Api, code: string): Promise<VaultRules> {
  const versions = await api.get<{ items: { number: number }[] }>(`${ofVault(code)}/rules/versions?limit=1`)
  const [newest] = versions.items
  if (newest === undefined)
    throw new Error('The token may not read the rules: it needs the group auditors or administrators')
  const { document } = await api.get<{ document: RulesDocument }>(`${ofVault(code)}/rules/versions/${newest.number}`)
  if (document.schemaVersion !== 1)
    throw new Error('The service has rules of a newer form; use its own version of this command')
  return { number: newest.number, document, known: await fetchKnown(api, code) }
}

async function fetchKnown(api: Api, code: string): Promise<Known> {
  const { routes } = await api.get<Pick<Known, 'routes'>>(ofVault(code))
  const people = await api.all<Known['people'][number]>(`${ofVault(code)}/members`)
  return { people, routes, categories: await api.all(`${ofVault(code)}/operation-categories`) }
}

export type Plan = {
  number: number
  changes: Change[]
  differences: Difference[]
  direction: Direction
  present: RulesDocument
  wanted: RulesDocument
  known: Known
}

/** Returns the changes that the file would make, computed as the service computes them. */
export async function planFile(api: Api, file: RulesFile): Promise<Plan> {
  const { number, document: present, known } = await fetchRules(api, file.vault)
  const wanted = toDocument(file, present, known)
  const routeIds = new Map(known.routes.map(({ code, id }) => [code, id]))
  return {
    ...{ number, present, wanted, known },
    changes: planChanges(present, wanted, routeIds),
    differences: differencesOf(present, wanted),
    direction: directionOf(present, wanted),
  }
}

type Backtest = { id: string; status: string; result: BacktestCounts | null; failure: string | null }
const pollMilliseconds = 1_000
const backtestSecondsMax = 300

/** @throws when the backtest fails or takes too long */
export async function backtest(api: Api, code: string, tried: object, days: number): Promise<BacktestCounts> {
  const from = new Date(Date.now() - days * 86_400_000).toISOString()
  const path = `${ofVault(code)}/policies/backtest`
  let { body: found } = await api.post<Backtest>(path, { ...tried, from })
  const end = Date.now() + backtestSecondsMax * 1_000
  while (found.result === null) {
    if (found.status === 'failed') throw new Error(`The backtest failed: ${found.failure}`)
    if (Date.now() > end) throw new Error('The backtest takes too long; see its result in the console')
    await sleep(pollMilliseconds)
    found = await api.get<Backtest>(`${path}s/${found.id}`)
  }
  return found.result
}

/**
 * Returns the policies of a plan that can be tried before there is a change set: changed policies, and removed policies as
 * disabled. New groups and changes of members cannot be tried; `isWhole` is true if there are none.
 */
export function triedPolicies({ present, wanted, differences }: Plan): { policies: object[]; isWhole: boolean } {
  const groupIds = new Set(present.groups.map(({ id }) => id))
  const isKnown = (policy: RulesPolicy) =>
    groupIds.has(policy.groupId) && namedGroups(policy).every((id) => groupIds.has(id))
  const changed = wanted.policies.filter(({ id }) =>
    differences.some((difference) => difference.kind === 'policy' && difference.id === id),
  )
  const codes = new Set(wanted.policies.map(({ code }) => code))
  const gone = present.policies.filter(({ code }) => !codes.has(code)).map((policy) => ({ ...policy, enabled: false }))
  const moves = differences.some(({ kind }) => kind === 'group')
  return { policies: [...changed.filter(isKnown), ...gone].map(toDraft), isWhole: !moves && changed.every(isKnown) }
}

function namedGroups({ approvers, rules }: RulesPolicy): string[] {
  const named = rules
    .flatMap(({ selectors }) => selectors)
    .filter((selector) => selector.selectorType === 'initiatorGroup')
  return [
    ...approvers.filter(({ kind }) => kind === 'group').map(({ id }) => id),
    ...named.flatMap(({ value }) => [value].flat().map(String)),
  ]
}

function toDraft({ id: _, approvers, ...policy }: RulesPolicy): object {
  return {
    ...policy,
    approvers: approvers.map(({ kind, id, threshold }) => ({
      ...(kind === 'user' ? { kind, userId: id } : { kind, groupId: id }),
      ...(threshold === null ? {} : { threshold }),
    })),
  }
}

export type ChangeSet = {
  id: string
  title: string
  status: string
  direction: Direction
  baseVersion: number
  appliedVersion: number | null
  failureReason: string | null
  changeCount: number
  changes: Change[]
}

const setsOf = (code: string) => `${ofVault(code)}/change-sets`
export const fetchChangeSet = (api: Api, code: string, id: string) => api.get<ChangeSet>(`${setsOf(code)}/${id}`)

/** Returns a waiting change set with the same changes, so that a repeated command asks for votes only once. */
export async function findWaiting(api: Api, code: string, { changes, number }: Plan): Promise<ChangeSet | null> {
  const { items } = await api.get<{ items: ChangeSet[] }>(`${setsOf(code)}?open=true&limit=100`)
  // The database keeps the keys of a payload in an order of its own.
  const wanted = canonicalJson(changes)
  for (const { id, status, baseVersion, changeCount } of items) {
    const isWaiting = status === 'pending' || status === 'scheduled'
    if (!isWaiting || baseVersion !== number || changeCount !== changes.length) continue
    const found = await fetchChangeSet(api, code, id)
    if (canonicalJson(found.changes) === wanted) return found
  }
  return null
}

/**
 * Creates a change set with the changes of a plan, as a draft.
 * @throws when the rules were changed since the plan was made
 */
export async function draftChangeSet(
  api: Api,
  code: string,
  { changes, number }: Plan,
  title: string,
): Promise<ChangeSet> {
  const { body: set } = await api.post<ChangeSet>(setsOf(code), { title, changes })
  if (set.baseVersion === number) return set
  await cancelChangeSet(api, code, set.id)
  throw new Error(`The rules were changed meanwhile, to version ${set.baseVersion}; plan again`)
}

/** Submits a change set, or cancels it after a failure. Returns true if the service applied it at once, as without governance. */
export async function submitChangeSet(api: Api, code: string, id: string): Promise<boolean> {
  try {
    const { status } = await api.post(`${setsOf(code)}/${id}/submit`)
    return status === 200
  } catch (error) {
    await cancelChangeSet(api, code, id)
    throw error
  }
}

/** Cancels a change set that was not submitted. A failure leaves it as a draft, which has no effect. */
export async function cancelChangeSet(api: Api, code: string, id: string): Promise<void> {
  await api.post(`${setsOf(code)}/${id}/cancel`).catch(() => {})
}
