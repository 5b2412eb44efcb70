import { sql } from 'kysely'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { waitingChangeSetsMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { audit } from '../../record/audit/record.ts'
import { requestAction } from '../approval-requests/request-action.ts'
import { cancelRequest } from '../approval-requests/vote-on-request.ts'
import { differencesOf, namesOf } from '../rules-versions/difference.ts'
import type { Direction } from '../rules-versions/direction.ts'
import type { RulesDocument } from '../rules-versions/document-schema.ts'
import { findVersion, lockRules, newestNumber } from '../rules-versions/versions.ts'
import { announceOutcome, type Engine, outdated, tryChanges } from './apply.ts'
import type { Change, ChangeContext } from './governed-actions.ts'
import { planChanges } from './plan-changes.ts'
import { countWaiting, type LockedChangeSet, lockChangeSet, updateChangeSetRow } from './queries.ts'
import { type RulesPayload, rulesExecutor } from './rules-executor.ts'
import { type HiddenChanges, hideSecrets } from './secrets.ts'

export type Draft = { title: string; changes: Change[] }

/** @throws 400 for a change that only its direct endpoint can request, because a secret in the answer is shown once */
function assertDraftable({ governed }: Engine, { changes }: Draft): void {
  const i = changes.findIndex(({ action }) => governed.actions[action].isDirectOnly)
  if (i !== -1) throw badRequest(`changes.${i}.action`, 'cannot be part of a change set; use its own endpoint')
}

/** Returns the changes that turn the present rules into the wanted rules. @throws 409 when the rules are equal */
export async function changesBetween(trx: Trx, vaultId: string, wanted: RulesDocument, now: Date): Promise<Change[]> {
  const { document } = await lockRules(trx, vaultId, now)
  const changes = planChanges(document, wanted)
  if (changes.length === 0) throw conflict('wrong_state', 'The rules are already like this')
  return changes
}

/** @throws the errors of the changes */
export async function createChangeSet(trx: Trx, engine: Engine, draft: Draft, context: ChangeContext): Promise<string> {
  assertDraftable(engine, draft)
  const id = newId(context.now)
  const hidden = await hideSecrets(trx, engine.deps.sealer, context.member.vault.id, { id, changes: draft.changes })
  const tried = await tryChanges(trx, engine, hidden, context)
  await insertChangeSet(trx, { ...hidden, ...tried, title: draft.title, isDirect: false }, context)
  const target = { type: 'change_set', id }
  await audit(trx, byMember(context), 'change_set.created', target, describe(draft.title, hidden, tried))
  return id
}

type Tried = { baseVersion: number; document: RulesDocument; direction: Direction }

const describe = (title: string, { changes }: HiddenChanges, { baseVersion, direction }: Omit<Tried, 'document'>) => ({
  title,
  changes,
  baseVersion,
  direction,
})

/** Stores a change set with the rules that would result from it. */
export async function insertChangeSet(
  trx: Trx,
  set: HiddenChanges & Tried & { title: string; isDirect: boolean },
  { member, now }: ByMember,
): Promise<void> {
  await sql`
    insert into change_sets (vault_id, id, title, status, is_direct, author_id, base_version, changes, secrets, document,
      direction, created_at, updated_at)
    values (${member.vault.id}, ${set.id}, ${set.title}, 'draft', ${set.isDirect}, ${member.userId}, ${set.baseVersion},
      ${JSON.stringify(set.changes)}, ${set.secrets}, ${JSON.stringify(set.document)}, ${set.direction}, ${now}, ${now})`.execute(
    trx,
  )
}

/** @throws 404, 403 unless the member is its author, 409 unless it is a draft */
export async function updateChangeSet(
  trx: Trx,
  engine: Engine,
  { id, ...draft }: Draft & { id: string },
  context: ChangeContext,
): Promise<void> {
  await lockDraft(trx, id, context.member)
  assertDraftable(engine, draft)
  const hidden = await hideSecrets(trx, engine.deps.sealer, context.member.vault.id, { id, changes: draft.changes })
  await redraft(trx, { title: draft.title, ...hidden }, await tryChanges(trx, engine, hidden, context), context)
}

/** Moves a change set to the newest version of the rules, as a draft. @throws as `updateChangeSet` */
export async function rebaseChangeSet(trx: Trx, engine: Engine, id: string, context: ChangeContext): Promise<void> {
  const set = await lockByAuthor(trx, id, context.member)
  if (set.status === 'applied' || set.status === 'cancelled') throw wrongState(set)
  if (set.request_status === 'pending') await cancelRequest(trx, set.request_id!, context)
  await redraft(trx, set, await tryChanges(trx, engine, set, context), context)
}

async function redraft(
  trx: Trx,
  set: HiddenChanges & { title: string },
  tried: Tried,
  context: ChangeContext,
): Promise<void> {
  const by = byMember(context)
  const content = { title: set.title, changes: JSON.stringify(set.changes), secrets: set.secrets }
  const { baseVersion: base_version, direction } = tried
  const ofDraft = { status: 'draft', base_version, document: JSON.stringify(tried.document), direction }
  const noOutcome = { request_id: null, apply_at: null, failure_reason: null, resolved_at: null, resolved_by_id: null }
  await updateChangeSetRow(trx, { ...by, id: set.id }, { ...content, ...ofDraft, ...noOutcome })
  const target = { type: 'change_set', id: set.id }
  await audit(trx, by, 'change_set.updated', target, describe(set.title, set, tried))
}

/**
 * Requests the votes on a draft. Without governance the draft is applied at once.
 * @throws 404; 403; 409 when the change set is not a draft, or the rules were changed after it was drafted
 */
export async function submitChangeSet(
  trx: Trx,
  engine: Engine,
  id: string,
  context: ChangeContext & { fetched: unknown[] | null },
): Promise<{ request: string } | { applied: true }> {
  const set = await lockDraft(trx, id, context.member)
  const vaultId = context.member.vault.id
  if ((await newestNumber(trx, vaultId)) !== set.base_version) throw outdated(await whatChanged(trx, vaultId, set))
  return askForVotes(trx, engine, set, context)
}

/** Opens the request that is voted on, and binds it to the changes and to the version that they were drafted on. */
export async function askForVotes(
  trx: Trx,
  engine: Engine,
  set: HiddenChanges & Pick<LockedChangeSet, 'title' | 'base_version' | 'direction' | 'document'>,
  { member, now, fetched = null }: ByMember & { fetched?: unknown[] | null },
): Promise<{ request: string } | { applied: true }> {
  const vaultId = member.vault.id
  if ((await countWaiting(trx, vaultId)) >= waitingChangeSetsMax) {
    throw conflict('limit_reached', `At most ${waitingChangeSetsMax} change sets of a vault wait at once`)
  }
  const { title, changes, direction, base_version: baseVersion } = set
  const differencesHash = await hashDifferences(trx, vaultId, set)
  const step = {
    action: 'rules_change' as const,
    targetId: set.id,
    payload: { title, changes, direction, baseVersion, differencesHash } satisfies RulesPayload,
  }
  const outcome = await requestAction(trx, {
    member,
    action: 'rules_change',
    steps: [step],
    executors: { rules_change: rulesExecutor(engine) },
    approvalTtlHours: engine.deps.config.approvalTtlHours,
    now,
    fetched,
  })
  if ('refusal' in outcome) throw outcome.refusal
  if ('applied' in outcome) return { applied: true }
  await updateChangeSetRow(trx, { vaultId, id: set.id, now }, { status: 'submitted', request_id: outcome.request })
  return { request: outcome.request }
}

/** The hash of the differences that the author and the voters are shown. */
async function hashDifferences(
  trx: Trx,
  vaultId: string,
  { base_version: base, document }: Pick<LockedChangeSet, 'base_version' | 'document'>,
): Promise<string> {
  const before = await findVersion(trx, vaultId, base)
  if (before === null) throw new Error(`There is no version ${base} of the rules`)
  return sha256(canonicalJson(differencesOf(before.document, document))).toString('hex')
}

/** Describes the differences between the version of a change set and the newest version. */
export async function whatChanged(
  trx: Trx,
  vaultId: string,
  { base_version: base }: Pick<LockedChangeSet, 'base_version'>,
): Promise<string> {
  const newest = await newestNumber(trx, vaultId)
  const [before, after] = [await findVersion(trx, vaultId, base), await findVersion(trx, vaultId, newest)]
  const names = before === null || after === null ? '' : namesOf(differencesOf(before.document, after.document))
  return `Version ${newest} differs from version ${base} in: ${names === '' ? 'nothing' : names}`
}

/**
 * Cancels a change set that is not applied. Any administrator may cancel it, also while it waits for its time, which is the
 * last chance to object.
 * @throws 404, 409 when the change set has ended
 */
export async function cancelChangeSet(trx: Trx, id: string, context: ByMember): Promise<void> {
  const by = byMember(context)
  const set = await lockKnown(trx, id, context.member)
  const isOpen = ['draft', 'scheduled'].includes(set.status) || set.request_status === 'pending'
  if (!isOpen) throw wrongState(set)
  if (set.request_status === 'pending') await cancelRequest(trx, set.request_id!, context)
  await updateChangeSetRow(trx, { ...by, id }, { status: 'cancelled', resolved_at: by.now, resolved_by_id: by.actorId })
  const { title, status } = set
  if (status === 'scheduled') {
    const how = 'was cancelled before it took effect'
    await announceOutcome(trx, by, set, { verb: 'cancelled', how, details: { status } })
  } else await audit(trx, by, 'change_set.cancelled', { type: 'change_set', id }, { title, status })
}

async function lockKnown(trx: Trx, id: string, member: Member): Promise<LockedChangeSet> {
  return orNotFound(await lockChangeSet(trx, member.vault.id, id), 'Change set')
}

/** Locks a change set for its author. Nobody else may change it, because it carries the name of the author. @throws 404, 403 */
async function lockByAuthor(trx: Trx, id: string, member: Member): Promise<LockedChangeSet> {
  const set = await lockKnown(trx, id, member)
  if (set.author_id !== member.userId) throw forbidden('not_permitted', 'Only its author may change or submit it')
  return set
}

async function lockDraft(trx: Trx, id: string, member: Member): Promise<LockedChangeSet> {
  const set = await lockByAuthor(trx, id, member)
  if (set.status !== 'draft') throw wrongState(set)
  return set
}

const wrongState = ({ status, request_status }: LockedChangeSet) =>
  conflict('wrong_state', `The change set is ${status === 'submitted' ? (request_status ?? status) : status} already`)
