import { sql } from 'kysely'
import { findMemberById } from '../../../access/authenticate.ts'
import { isAdministrators } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'
import { type Decision, votesOfPeople } from '../policies/decision.ts'
import type { Initiator } from '../policies/queries.ts'
import { type Executor, StaleError, type Step, type StepContext } from '../votes/executor.ts'
import type { Change } from './actions.ts'
import { applyChanges, type Engine } from './apply.ts'
import type { Direction } from './direction.ts'
import { lockChangeSet, readGovernance } from './queries.ts'
import type { HiddenChanges } from './secrets.ts'
import { newestNumber } from './versions.ts'

/** What is voted on: the whole of the changes, not their id. */
export type RulesPayload = { title: string; changes: Change[]; direction: Direction; baseVersion: number }

const hourMilliseconds = 3_600_000

/** Change sets as a gated action: the votes are those that the governance of the vault asks for. */
export function rulesExecutor(engine: Engine): Executor {
  return {
    async prepare(_db, _context, step) {
      const { baseVersion } = step.payload as RulesPayload
      return { step, targetType: 'change_set', targetId: step.targetId, baseVersion: String(baseVersion), facts: {} }
    },
    decide: (trx, { vaultId, now }, _prepared, initiator) => decideByGovernance(trx, vaultId, initiator, now),
    prefetch: (_context, _step, use) => engine.governed.withProbe(use),
    async apply(trx, context, step, baseVersion, probed) {
      await carryOut(trx, engine, { context, step, baseVersion, probed })
      return { resultId: step.targetId! }
    },
  }
}

/**
 * As many people as the threshold says, none of them the initiator, and one more for a service: it acts for the holder of its
 * token, who may be one of those that vote.
 */
async function decideByGovernance(trx: Trx, vaultId: string, initiator: Initiator, now: Date): Promise<Decision> {
  const { threshold, approverGroupId } = await readGovernance(trx, vaultId)
  const { rows } = await sql<{ kind: string; groupId: string }>`
    select u.kind, g.id as "groupId" from users u, policy_groups g
    where u.id = ${initiator.userId} and g.vault_id = ${vaultId}
      and ${approverGroupId === null ? isAdministrators('g') : sql`g.id = ${approverGroupId}`}`.execute(trx)
  const { kind, groupId } = rows[0]!
  const facts = { now, initiatorId: initiator.userId, initiatorGroupIds: initiator.groupIds }
  const none = { blockReason: null, policies: [], trace: [], facts }
  if (threshold === 0) return { ...none, effect: 'allow', decisionPolicy: null, requirements: [] }
  const group = { id: groupId, code: 'governance', name: 'Governance' }
  return { ...none, ...votesOfPeople(group, threshold + (kind === 'service' ? 1 : 0)) }
}

type Approved = { context: StepContext; step: Step; baseVersion: string | null; probed: unknown }

/** What is approved takes effect at once, or waits for its time. @throws StaleError, and the errors of the changes */
async function carryOut(trx: Trx, engine: Engine, { context, step, baseVersion, probed }: Approved): Promise<void> {
  const { vaultId, initiatorId, now } = context
  const { changes, direction, title } = step.payload as RulesPayload
  const id = step.targetId!
  const set = await lockChangeSet(trx, vaultId, id)
  if (set === null) throw new Error(`There is no change set ${id}`)
  const { secrets } = set
  await sql`select from rules_heads where vault_id = ${vaultId} for update`.execute(trx)
  if (String(await newestNumber(trx, vaultId)) !== baseVersion) throw new StaleError()
  const governance = await readGovernance(trx, vaultId)
  const hours = direction === 'loosening' ? governance.looseningDelayHours : governance.tighteningDelayHours
  if (governance.threshold > 0 && hours > 0) {
    const applyAt = new Date(now.getTime() + hours * hourMilliseconds)
    await schedule(trx, { vaultId, id, title, authorId: initiatorId, applyAt, now })
    return
  }
  const member = await findMemberById(trx, vaultId, initiatorId)
  if (member === null || !member.isAdmin || member.isHeld) throw noLongerAdministrator()
  await applyAndMark(trx, engine, { id, changes, secrets, direction }, { member, now, probed })
}

export const noLongerAdministrator = () =>
  conflict('initiator_lost_permission', 'The author of the change set no longer administers the vault')

type Marked = HiddenChanges & { direction: Direction }

/** Applies approved changes in this transaction, and nothing else than what was approved. */
export async function applyAndMark(
  trx: Trx,
  engine: Engine,
  { direction, ...hidden }: Marked,
  context: Parameters<typeof applyChanges>[3],
): Promise<void> {
  const { member, now } = context
  const done = await applyChanges(trx, engine, hidden, context)
  if (done.direction === 'loosening' && direction === 'tightening') {
    throw conflict(
      'changed_concurrently',
      'The change would loosen the rules, and was approved as one that tightens them',
    )
  }
  await sql`
    update change_sets set status = 'applied', applied_version = ${done.number}, resolved_at = ${now},
      updated_at = ${now}
    where vault_id = ${member.vault.id} and id = ${hidden.id}`.execute(trx)
}

type Scheduled = { vaultId: string; id: string; title: string; authorId: string; applyAt: Date; now: Date }

async function schedule(trx: Trx, { vaultId, id, title, authorId, applyAt, now }: Scheduled): Promise<void> {
  await sql`
    update change_sets set status = 'scheduled', apply_at = ${applyAt}, updated_at = ${now}
    where vault_id = ${vaultId} and id = ${id}`.execute(trx)
  await announceVaultChange(
    trx,
    {
      vaultId,
      actorId: authorId,
      action: 'change_set.scheduled',
      targetType: 'change_set',
      targetId: id,
      details: { title, applyAt: applyAt.toISOString() },
      words: {
        sentence: `The change of the rules ${quote(title)} was approved and waits for its time`,
        after: { 'takes effect at': applyAt.toISOString() },
      },
      now,
    },
    { userIds: [authorId] },
  )
}
