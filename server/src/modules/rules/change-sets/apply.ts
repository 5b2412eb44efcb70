import { sql } from 'kysely'
import type { By } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { conflict } from '../../../lib/errors.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'
import { differencesOf } from '../rules-versions/difference.ts'
import { type Direction, directionOf } from '../rules-versions/direction.ts'
import type { RulesDocument } from '../rules-versions/document-schema.ts'
import { readRules } from '../rules-versions/rules-document.ts'
import { findVersion, lockRules, publishRules } from '../rules-versions/versions.ts'
import { applyEach, type ChangeContext, type Governed } from './governed-actions.ts'
import type { LockedChangeSet } from './queries.ts'
import { approverGroupOf, assertQuorum } from './quorum.ts'
import { type HiddenChanges, revealSecrets } from './secrets.ts'

/** The dependencies of a transaction that changes rules. */
export type Engine = { deps: Deps; governed: Governed }

/**
 * Returns the rules after the changes, which are carried out and rolled back.
 * @throws the errors of the changes, with their paths; 409 when too few people could agree to the next change
 */
export async function tryChanges(
  trx: Trx,
  { deps, governed }: Engine,
  hidden: HiddenChanges,
  context: ChangeContext,
): Promise<{ baseVersion: number; document: RulesDocument; direction: Direction }> {
  const vaultId = context.member.vault.id
  const { number: baseVersion, document: before } = await lockRules(trx, vaultId, context.now)
  const document = await undone(trx, async () => {
    await applyEach(trx, governed, await revealSecrets(trx, deps.sealer, vaultId, hidden), context)
    const after = await readRules(trx, vaultId)
    await assertStillGovernable(trx, vaultId, before, after)
    return after
  })
  return { baseVersion, document, direction: directionOf(before, document) }
}

/** Carries the changes out and publishes them as one version. @throws as `tryChanges` */
export async function applyChanges(
  trx: Trx,
  { deps, governed }: Engine,
  hidden: HiddenChanges,
  context: ChangeContext,
): Promise<{ number: number; direction: Direction; document: RulesDocument }> {
  const { member, now } = context
  const vaultId = member.vault.id
  const { document: before } = await lockRules(trx, vaultId, now)
  await applyEach(trx, governed, await revealSecrets(trx, deps.sealer, vaultId, hidden), context)
  const { number, document: after } = await publishRules(trx, vaultId, {
    actorId: member.userId,
    changeSetId: hidden.id,
    now,
  })
  await assertStillGovernable(trx, vaultId, before, after)
  await endOutdated(trx, vaultId, { number, exceptId: hidden.id, now })
  return { number, direction: directionOf(before, after), document: after }
}

/** Checks that enough people can vote on the rules after the change. @throws 409 */
export async function assertStillGovernable(
  trx: Trx,
  vaultId: string,
  before: RulesDocument,
  after: RulesDocument,
): Promise<void> {
  const decidersOf = (rules: RulesDocument) => {
    const id = approverGroupOf(rules)
    return [rules.governance.threshold, id, rules.groups.find((group) => group.id === id)?.members ?? []]
  }
  if (!isSameJson(decidersOf(before), decidersOf(after))) await assertQuorum(trx, vaultId, after.governance)
}

/** Runs `work` and rolls back its writes. */
async function undone<Result>(trx: Trx, work: () => Promise<Result>): Promise<Result> {
  await sql`savepoint try_rules`.execute(trx)
  const result = await work()
  await sql`rollback to savepoint try_rules`.execute(trx)
  await sql`release savepoint try_rules`.execute(trx)
  return result
}

/** Marks scheduled change sets as stale when a newer version has replaced the rules that they were approved for. */
export async function endOutdated(
  trx: Trx,
  vaultId: string,
  { number, exceptId, now }: { number: number; exceptId: string | null; now: Date },
): Promise<void> {
  await sql`
    update change_sets set status = 'stale', failure_reason = ${`Version ${number} of the rules came first`},
      resolved_at = ${now}, updated_at = ${now}
    where vault_id = ${vaultId} and status = 'scheduled' and base_version < ${number}
      and id is distinct from ${exceptId}`.execute(trx)
}

/** The conflict of a change set with rules that changed after its draft; `details` names the changes. */
export const outdated = (details: string) =>
  conflict('rules_changed', 'The rules were changed after the change set was drafted; rebase it', details)

type Outcome = {
  verb: 'scheduled' | 'cancelled' | 'stale' | 'failed'
  /** The sentence after the title. */
  how: string
  details: Record<string, unknown>
  after?: Record<string, unknown>
}

/** Records the outcome of a submitted change set, and announces it with what it changes, also to its author. */
export async function announceOutcome(
  trx: Trx,
  by: Omit<By, 'actorId'> & { actorId: string | null },
  { id, title, author_id, base_version, document }: LockedChangeSet,
  { verb, how, details, after }: Outcome,
): Promise<void> {
  const base = await findVersion(trx, by.vaultId, base_version)
  const differences = base === null ? [] : differencesOf(base.document, document)
  const changes = differences.map(({ kind, name }) => (kind === name ? kind : `${kind} ${name}`))
  const words = {
    sentence: `The change of the rules ${quote(title)} ${how}`,
    after: { ...after, 'what changes': changes },
  }
  const target = { action: `change_set.${verb}`, targetType: 'change_set', targetId: id }
  await announceVaultChange(trx, { ...by, ...target, details: { title, ...details }, words }, { userIds: [author_id] })
}
