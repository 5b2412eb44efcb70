import { findMemberById } from '../../../access/authenticate.ts'
import { byInitiator, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { conflict } from '../../../lib/errors.ts'
import type { Initiator } from '../decisions/decide.ts'
import { type Decision, votesOfPeople } from '../decisions/decision.ts'
import { findAdministratorsId } from '../policy-groups/memberships.ts'
import type { Direction } from '../rules-versions/direction.ts'
import { readGovernance } from '../rules-versions/read-governance.ts'
import { lockNewestNumber } from '../rules-versions/versions.ts'
import { type Executor, StaleError, type Step, type StepContext } from '../votes/executor.ts'
import { announceOutcome, applyChanges, type Engine } from './apply.ts'
import type { Change, ChangeContext } from './governed-actions.ts'
import { type LockedChangeSet, lockChangeSet, updateChangeSetRow } from './queries.ts'
import type { HiddenChanges } from './secrets.ts'

/** The payload that is voted on. It contains all changes, so that votes are bound to more than the id of the change set. */
export type RulesPayload = {
  title: string
  changes: Change[]
  direction: Direction
  baseVersion: number
  /** Hash of the differences that voters are shown. Requests of earlier versions of the service have no hash and are not applied. */
  differencesHash?: string
}

const hourMilliseconds = 3_600_000
const unboundSentence =
  'The request is of an earlier version of the service, and its votes are bound to no differences. Ask for the change again'

/** Change sets as a gated action, with the votes that the governance of the vault requires. */
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
 * Returns the requirement of governance. The initiator does not vote. A change by a service needs one more vote, because the
 * holder of its token may be one of the voters.
 */
async function decideByGovernance(trx: Trx, vaultId: string, initiator: Initiator, now: Date): Promise<Decision> {
  const { threshold, approverGroupId } = await readGovernance(trx, vaultId)
  const facts = { now, initiatorId: initiator.userId, initiatorGroupIds: initiator.groupIds }
  const none = { blockReason: null, policies: [], trace: [], facts }
  if (threshold === 0) return { ...none, effect: 'allow', decisionPolicy: null, requirements: [] }
  const id = approverGroupId ?? (await findAdministratorsId(trx, vaultId))
  const group = { id, code: 'governance', name: 'Governance' }
  return { ...none, ...votesOfPeople(group, threshold + (initiator.kind === 'service' ? 1 : 0)) }
}

type Approved = { context: StepContext; step: Step; baseVersion: string | null; probed: unknown }

/** Applies approved changes at once, or schedules them. @throws StaleError, and the errors of the changes */
async function carryOut(trx: Trx, engine: Engine, { context, step, baseVersion, probed }: Approved): Promise<void> {
  const { vaultId, initiatorId, now } = context
  const { changes, direction, differencesHash } = step.payload as RulesPayload
  if (differencesHash === undefined) throw new StaleError(unboundSentence)
  const id = step.targetId!
  const set = await lockChangeSet(trx, vaultId, id)
  if (set === null) throw new Error(`There is no change set ${id}`)
  const { secrets, document } = set
  if (String(await lockNewestNumber(trx, vaultId)) !== baseVersion) throw new StaleError()
  const governance = await readGovernance(trx, vaultId)
  const hours = direction === 'loosening' ? governance.looseningDelayHours : governance.tighteningDelayHours
  if (governance.threshold > 0 && hours > 0) {
    const applyAt = new Date(now.getTime() + hours * hourMilliseconds)
    await updateChangeSetRow(trx, { vaultId, id, now }, { status: 'scheduled', apply_at: applyAt })
    const time = applyAt.toISOString()
    const how = 'was approved and waits for its time'
    const outcome = { verb: 'scheduled', how, details: { applyAt: time }, after: { 'takes effect at': time } } as const
    return announceOutcome(trx, byInitiator(context), set, outcome)
  }
  const member = await getAuthor(trx, vaultId, initiatorId)
  await applyAndMark(trx, engine, { id, changes, secrets, direction, document }, { member, now, probed })
}

/** Returns the author as an administrator of the vault. @throws 409 when the author is no longer an administrator */
export async function getAuthor(trx: Trx, vaultId: string, authorId: string): Promise<Member> {
  const member = await findMemberById(trx, vaultId, authorId)
  if (member?.isAdmin && !member.isHeld) return member
  throw conflict('initiator_lost_permission', 'The author of the change set no longer administers the vault')
}

/** Applies exactly the approved changes, in this transaction. */
export async function applyAndMark(
  trx: Trx,
  engine: Engine,
  { direction, document, ...hidden }: HiddenChanges & Pick<LockedChangeSet, 'direction' | 'document'>,
  context: ChangeContext,
): Promise<void> {
  const { member, now } = context
  const done = await applyChanges(trx, engine, hidden, context)
  if (done.direction === 'loosening' && direction === 'tightening') {
    throw conflict(
      'changed_concurrently',
      'The change would loosen the rules, and was approved as one that tightens them',
    )
  }
  // A folder that no rule named at the time of the draft is in no version of the rules.
  if (!isSameJson(done.document.folders ?? [], document.folders ?? [])) {
    throw conflict(
      'changed_concurrently',
      'A folder that the change names is not as it was when the change was drafted',
    )
  }
  const outcome = { status: 'applied', applied_version: done.number, resolved_at: now }
  await updateChangeSetRow(trx, { vaultId: member.vault.id, id: hidden.id, now }, outcome)
}
