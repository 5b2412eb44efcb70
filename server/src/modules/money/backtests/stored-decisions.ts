import { type RawBuilder, sql } from 'kysely'
import { isOperationInScope, scopeToCount, type Viewer, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import { isOperationReadable } from '../../operations/feed/queries.ts'
import { decidedElsewhere } from '../../rules/decisions/decide.ts'
import type { Decision, PolicyTrace } from '../../rules/decisions/decision.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { isSubjectVisible } from '../../rules/votes/queries.ts'

/** The recorded decision on one step. `facts` is null in records of an early version. */
export type StoredStep = Pick<Decision, 'effect' | 'decisionPolicy' | 'requirements'> & {
  actionType: string
  facts: Facts | null
}

/** A recorded decision with all data that a second decision needs. */
export type StoredDecision = {
  type: SubjectType
  id: string
  createdAt: Date
  /** True if the viewer may see the decision. A hidden decision is counted, and nothing else about it leaves the server. */
  isSeen: boolean
  /** The action type; of several steps, the type of the first. */
  actionType: string
  /** The outcome of all steps together. */
  outcome: Pick<Decision, 'effect' | 'decisionPolicy' | 'requirements'>
  /** An entry for each step of an action, or for each row of a payout, which is decided as a whole. */
  steps: StoredStep[]
  /** The trace of decisions that are read by id; empty for decisions that are only counted. */
  trace: PolicyTrace[]
}

export type Interval = { from: Date; to: Date }
/** Selects decisions, newest first. `ids` selects those that the viewer may see, whatever their time. */
type Wanted = { viewer: Viewer; limit: number } & ({ interval: Interval; after: Position | null } | { ids: string[] })

type Recorded = {
  effect: Decision['effect']
  decisionPolicy: Decision['decisionPolicy']
  requirements: Decision['requirements'] | null
  facts: (Omit<Facts, 'now'> & { now: string }) | null
  trace: PolicyTrace[] | null
}
type Row = Recorded & { id: string; created_at: Date; isSeen: boolean }

/** Returns a page of the decisions of one type, over the whole vault. */
export function listStoredDecisions(db: Db, type: SubjectType, wanted: Wanted): Promise<StoredDecision[]> {
  return sources[type](db, wanted)
}

const sources: Record<SubjectType, (db: Db, wanted: Wanted) => Promise<StoredDecision[]>> = {
  /** Reads orders. An order of a payout is decided with the payout. */
  async transfer(db, wanted) {
    // The whole decision is read as one record, because each separately selected part would read all of it again.
    const { rows } = await sql<Row>`
      select o.id, o.created_at, ${isDecisionSeen('transfer', 'o', wanted.viewer)} as "isSeen", d.effect,
        d."decisionPolicy", d.requirements, d.facts, ${traceOf(wanted)} as trace
      from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id and t.payout_id is null
      cross join lateral ${recordOf(sql.ref('t.decision'))}
      where ${isOperationInScope(scopeToCount(wanted.viewer), 'o')} and o.type = 'transfer'
        and ${isWanted('transfer', 'o', wanted)}`.execute(db)
    return rows.map((row) => toStored('transfer', row, 'transfer', [toStep(row, 'transfer')]))
  },

  async payout(db, wanted) {
    const { rows } = await sql<Row & { orders: { facts: Recorded['facts'] }[] }>`
      select p.id, p.created_at, ${isDecisionSeen('payout', 'p', wanted.viewer)} as "isSeen", d.effect,
        d."decisionPolicy", d.requirements, null as facts,
        ${traceOf(wanted)} as trace, (
        select jsonb_agg(jsonb_build_object('facts', t.decision -> 'facts') order by t.payout_row)
        from transfers t where t.vault_id = p.vault_id and t.payout_id = p.id) as orders
      from payouts p cross join lateral ${recordOf(sql.ref('p.decision'))}
      where p.vault_id = ${wanted.viewer.vault.id} and ${isWanted('payout', 'p', wanted)}`.execute(db)
    return rows.map(({ orders, ...row }) =>
      toStored(
        'payout',
        row,
        'transfer',
        orders.map(({ facts }) => toStep({ ...row, facts }, 'transfer')),
      ),
    )
  },

  /** Reads the requests that waited for votes, except those that other rules decided. */
  async approval_request(db, wanted) {
    const { rows } = await sql<ActionRow>`
      select r.id, r.created_at, ${isDecisionSeen('approval_request', 'r', wanted.viewer)} as "isSeen",
        r.decision as decisions, (
        select jsonb_agg(s.one #>> '{step,action}' order by s.position)
        from jsonb_array_elements(r.steps) with ordinality as s(one, position)) as actions
      from approval_requests r
      where r.vault_id = ${wanted.viewer.vault.id} and r.action <> all(${decidedElsewhere})
        and ${isWanted('approval_request', 'r', wanted)}`.execute(db)
    return rows.map((row) => toStoredAction('approval_request', row))
  },

  async decision(db, wanted) {
    const { rows } = await sql<ActionRow>`
      select r.id, r.created_at, ${isDecisionSeen('decision', 'r', wanted.viewer)} as "isSeen", r.decisions, (
        select jsonb_agg(s.one ->> 'actionType' order by s.position)
        from jsonb_array_elements(r.decisions) with ordinality as s(one, position)) as actions
      from decisions r
      where r.vault_id = ${wanted.viewer.vault.id} and r.action <> all(${decidedElsewhere})
        and ${isWanted('decision', 'r', wanted)}`.execute(db)
    return rows.map((row) => toStoredAction('decision', row))
  },
}

/** A row of an action of one or several steps: `decisions` and `actions` have an entry for each step. */
type ActionRow = { id: string; created_at: Date; isSeen: boolean; decisions: Recorded[]; actions: string[] }

const recordOf = (decision: RawBuilder<unknown>) =>
  sql`jsonb_to_record(${decision}) as d(effect text, "decisionPolicy" jsonb, requirements jsonb, facts jsonb,
    trace jsonb)`

const traceOf = (wanted: Wanted) => ('ids' in wanted ? sql`d.trace` : sql`null`)

function isWanted(type: SubjectType, alias: string, wanted: Wanted): RawBuilder<unknown> {
  const [id, createdAt] = [sql.ref(`${alias}.id`), sql.ref(`${alias}.created_at`)]
  const order = sql`order by ${createdAt} desc, ${id} desc limit ${wanted.limit}`
  if ('ids' in wanted) return sql`${id} = any(${wanted.ids}) and ${isDecisionSeen(type, alias, wanted.viewer)} ${order}`
  const { interval, after } = wanted
  const next = after === null ? sql`` : sql`and (${createdAt}, ${id}) < (${after.createdAt}::timestamptz, ${after.id})`
  return sql`${createdAt} between ${interval.from} and ${interval.to} ${next} ${order}`
}

/** Counts the decisions of the interval in the whole vault, up to `max`. */
export async function countStoredDecisions(
  db: Db,
  viewer: Viewer,
  { from, to }: Interval,
  max: number,
): Promise<number> {
  const vaultId = viewer.vault.id
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      (select from operations o where ${isOperationInScope(scopeToCount(viewer), 'o')} and o.type = 'transfer'
        and o.created_at between ${from} and ${to} limit ${max})
      union all
      (select from approval_requests r where r.vault_id = ${vaultId} and r.created_at between ${from} and ${to} limit ${max})
      union all
      (select from decisions r where r.vault_id = ${vaultId} and r.created_at between ${from} and ${to} limit ${max})
    ) counted`.execute(db)
  return Math.min(max, rows[0]!.count)
}

function toStep({ effect, decisionPolicy, requirements, facts }: Recorded, actionType: string): StoredStep {
  return {
    actionType,
    effect,
    decisionPolicy,
    requirements: requirements ?? [],
    facts: facts === null ? null : { ...facts, now: new Date(facts.now) },
  }
}

function toStored(type: SubjectType, row: Row, actionType: string, steps: StoredStep[]): StoredDecision {
  const { id, isSeen, effect, decisionPolicy, requirements } = row
  const outcome = { effect, decisionPolicy, requirements: requirements ?? [] }
  return { type, id, isSeen, createdAt: row.created_at, actionType, outcome, steps, trace: row.trace ?? [] }
}

function toStoredAction(type: SubjectType, { id, created_at, isSeen, decisions, actions }: ActionRow): StoredDecision {
  const steps = decisions.map((decision, i) => toStep(decision, actions[i]!))
  const trace = decisions.flatMap((decision) => decision.trace ?? [])
  const outcome = outcomeOfSteps(steps)
  return { type, id, isSeen, createdAt: created_at, actionType: actions[0]!, outcome, steps, trace }
}

/** Returns the outcome of several steps together: either all of them happen or none does. */
export function outcomeOfSteps(steps: Pick<Decision, 'effect' | 'decisionPolicy' | 'requirements'>[]) {
  const decisive = (['block', 'deny', 'approval', 'allow'] as const)
    .map((effect) => steps.find((step) => step.effect === effect))
    .find((step) => step !== undefined)!
  const { effect } = decisive
  const isRefused = effect === 'block' || effect === 'deny'
  return {
    effect,
    decisionPolicy: decisive.decisionPolicy,
    requirements: isRefused ? [] : steps.flatMap(({ requirements }) => requirements),
  }
}

export const subjectTypes = ['transfer', 'payout', 'approval_request', 'decision'] as const
export type SubjectType = (typeof subjectTypes)[number]

/**
 * SQL condition: the viewer may see the decision `alias`, a row of the table of its type. An action that was allowed or refused
 * at once has a row in `decisions`. Only its requester may see the row, because only the requester learned the result.
 */
function isDecisionSeen(type: SubjectType, alias: string, viewer: Viewer): RawBuilder<boolean> {
  if (viewer.readsAll) return sql<boolean>`true`
  if (type === 'transfer') return isOperationReadable(visibleScopeOf(viewer), alias)
  if (type === 'decision') return sql<boolean>`${sql.ref(`${alias}.initiator_id`)} = ${viewer.userId}`
  return isSubjectVisible(alias, viewer)
}

const tables: Record<SubjectType, string> = {
  transfer: 'operations',
  payout: 'payouts',
  approval_request: 'approval_requests',
  decision: 'decisions',
}

/** SQL condition: the viewer may see the decision that `alias`, a row of `backtest_changes`, is about. */
export function isChangeSeen(alias: string, viewer: Viewer): RawBuilder<boolean> {
  if (viewer.readsAll) return sql<boolean>`true`
  const of = (column: string) => sql.ref(`${alias}.${column}`)
  const conditions = subjectTypes.map(
    (type) => sql`(${of('subject_type')} = ${type} and exists (
      select from ${sql.table(tables[type])} seen where seen.vault_id = ${of('vault_id')}
        and seen.id = ${of('subject_id')} and ${isDecisionSeen(type, 'seen', viewer)}))`,
  )
  return sql<boolean>`(${sql.join(conditions, sql` or `)})`
}
