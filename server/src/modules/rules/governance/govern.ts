import { sql } from 'kysely'
import { findMemberById } from '../../../access/authenticate.ts'
import type { ByMember, Caller, Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Confirm } from '../../../http/confirmation.ts'
import { accepted, isRefusal } from '../../../http/mutate.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { readRequest, type Waits } from '../approval-requests/gate.ts'
import { assertSteppedUp } from '../approval-requests/step-up.ts'
import { askForVotes, insertChangeSet } from '../change-sets/actions.ts'
import { assertStillGovernable, type Engine, endOutdated } from '../change-sets/apply.ts'
import type { Change } from '../change-sets/governed-actions.ts'
import { hideSecrets } from '../change-sets/secrets.ts'
import { joinVaultRole } from '../policy-groups/vault-role.ts'
import { differencesOf, namesOf } from '../rules-versions/difference.ts'
import { directionOf, mayChangeAlone } from '../rules-versions/direction.ts'
import type { RulesDocument } from '../rules-versions/document-schema.ts'
import { readGovernance } from '../rules-versions/read-governance.ts'
import { readRules } from '../rules-versions/rules-document.ts'
import { lockRules, publishRules } from '../rules-versions/versions.ts'

type GovernedRequest = { vaultId: string | null; caller: Caller; confirm: Confirm; now: Date }

/**
 * Runs the work of a direct endpoint that may change the rules, and publishes the changed rules. In a vault with governance the
 * rules after the work are compared with the rules before. Work that does not change the rules, or only makes decisions stricter,
 * takes effect. Other work is rolled back, and waits for votes as a change set of one change.
 *
 * `vaultId` is null when the object of the request does not exist, or is of a vault that the caller does not administer.
 * The work itself refuses a caller who does not administer the vault, or it succeeds as long as it changes no rules.
 */
export async function govern<A>(
  trx: Trx,
  engine: Pick<Engine, 'deps'>,
  { vaultId, caller, confirm, now }: GovernedRequest,
  change: Change,
  work: () => Promise<A>,
): Promise<A | Waits> {
  const member = vaultId === null ? null : await findMemberById(trx, vaultId, caller.userId)
  if (vaultId === null || member === null || member.isHeld) return work()
  if (!member.isAdmin) return changingNoRules(trx, vaultId, now, work)
  const { document: before, number } = await lockRules(trx, vaultId, now)
  await sql`savepoint govern`.execute(trx)
  const answer = await work()
  if (isRefusal(answer)) return answer
  const after = await readRules(trx, vaultId)
  const isOpen = before.governance.threshold === 0
  const widensNothing = isSameJson(before, after) || mayChangeAlone(before, after)
  if (before.wallet.protection === 'votes' && !widensNothing)
    await assertSteppedUp(trx, { caller, confirm, isVotedOn: !isOpen })
  if (isOpen || widensNothing) {
    if (isOpen) await assertStillGovernable(trx, vaultId, before, after)
    const published = await publishRules(trx, vaultId, { actorId: caller.userId, now })
    await endOutdated(trx, vaultId, { number: published.number, exceptId: null, now })
    return answer
  }
  await assertStillGovernable(trx, vaultId, before, after)
  await sql`rollback to savepoint govern`.execute(trx)
  const request = await openAlone(trx, engine, { member, now, change, before, after, number })
  return accepted({ request: await readRequest(trx, member, request, now) })
}

/**
 * Runs the work of a member who does not administer the vault. Such members may edit categories and folders, and parts of
 * these belong to the rules.
 * @throws 403 when the work would change the rules of a vault with governance
 */
async function changingNoRules<A>(trx: Trx, vaultId: string, now: Date, work: () => Promise<A>): Promise<A> {
  if ((await readGovernance(trx, vaultId)).threshold === 0) return work()
  const { document: before } = await lockRules(trx, vaultId, now)
  const answer = await work()
  if (isRefusal(answer) || isSameJson(before, await readRules(trx, vaultId))) return answer
  throw forbidden(
    'administrator_required',
    'It would change what the rules of the vault see; an administrator asks for it by the governance of the vault',
  )
}

type Opening = ByMember & { change: Change; before: RulesDocument; after: RulesDocument; number: number }

/** Submits a change set of one change. The votes are bound to this change. Returns the id of the approval request. */
async function openAlone(
  trx: Trx,
  { deps }: Pick<Engine, 'deps'>,
  { member, now, change, before, after, number }: Opening,
): Promise<string> {
  const hidden = await hideSecrets(trx, deps.sealer, member.vault.id, { id: newId(now), changes: [change] })
  const direction = directionOf(before, after)
  const title = namesOf(differencesOf(before, after)).slice(0, titleLengthMax)
  const set = { ...hidden, baseVersion: number, document: after, direction, title, isDirect: true }
  await insertChangeSet(trx, set, { member, now })
  // Nothing is applied here: governance is on.
  const engine = { deps, governed: notHere }
  const draft = { ...hidden, title, base_version: number, direction, document: after }
  const outcome = await askForVotes(trx, engine, draft, { member, now })
  if ('applied' in outcome) throw new Error('A change that needs votes was applied without them')
  return outcome.request
}

const titleLengthMax = 200

const notHere: Engine['governed'] = {
  get actions(): never {
    throw new Error('Changes are applied by the routes of votes and by the task for due changes')
  },
  withProbe: (change) => change(null),
}

/** The change that an endpoint makes. */
type Wanted<Id> = [action: Change['action'], targetId: Id, payload: object]
function toChange([action, targetId, payload]: Wanted<string | null>): Change {
  return { action, targetId, payload: payload as Change['payload'] }
}

/** As `govern`, for an endpoint of a vault. */
export const governedIn =
  (deps: Engine['deps']) =>
  <A>(
    trx: Trx,
    { member, ...context }: { member: Member; confirm: Confirm; now: Date },
    wanted: Wanted<string | null>,
    work: () => Promise<A>,
  ): Promise<A | Waits> =>
    govern(trx, { deps }, { vaultId: member.vault.id, caller: member, ...context }, toChange(wanted), work)

/** As `govern`, for an endpoint that names a row by its id alone. */
export const governedBy =
  (deps: Engine['deps'], table: Parameters<typeof vaultOf>[1]) =>
  async <A>(
    trx: Trx,
    context: Omit<GovernedRequest, 'vaultId'>,
    wanted: Wanted<string>,
    work: () => Promise<A>,
  ): Promise<A | Waits> => {
    const vaultId = await vaultOf(trx, table, wanted[1], context.caller.userId)
    return govern(trx, { deps }, { vaultId, ...context }, toChange(wanted), work)
  }

/**
 * Returns the vault of a row that a path names by its id alone; null unless the caller administers the vault. It always takes
 * one statement, so that its cost does not reveal whether a row exists.
 */
export async function vaultOf(
  trx: Trx,
  table: 'policies' | 'policy_groups' | 'invitations',
  id: string,
  callerId: string,
): Promise<string | null> {
  const { rows } = await sql<{ vaultId: string }>`
    select t.vault_id as "vaultId" from ${sql.table(table)} t ${joinVaultRole(sql`t.vault_id`, callerId)}
    where t.id = ${id} and s."isAdmin" and not s."isHeld"`.execute(trx)
  return rows[0]?.vaultId ?? null
}
