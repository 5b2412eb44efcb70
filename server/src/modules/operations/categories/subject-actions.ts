import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { ByMember } from '../../../access/caller.ts'
import type { SubjectKind } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import type { FieldFault } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { listMembersAmong, lockExistingGroups } from '../../rules/policy-groups/memberships.ts'
import { assertNone, finishChange, lockLiveDefinition } from './definition.ts'
import type { CategoryRow } from './queries.ts'
import type { CategoryApprovers, CategoryGrants } from './schema.ts'

/**
 * Replaces the grants; for administrators. A subject that remains keeps its grant, and its rights are updated.
 * @throws 400 for a subject that is not in the vault, is repeated or has no rights, 404, 409 while it is archived
 */
export async function replaceGrants(
  trx: Trx,
  id: string,
  { grants }: Static<typeof CategoryGrants>,
  by: ByMember,
): Promise<CategoryRow> {
  const category = await lockLiveDefinition(trx, id, by)
  const wanted = grants.map(({ subjectType, subjectUserId, subjectGroupId, ...rights }) => ({
    kind: subjectType,
    userId: subjectUserId ?? null,
    groupId: subjectGroupId ?? null,
    rights: { ...defaultRights, ...rights },
  }))
  const idle = wanted.flatMap(({ rights }, i): FieldFault[] =>
    Object.values(rights).includes(true) ? [] : [{ field: `grants.${i}`, message: 'must have at least one right' }],
  )
  assertNone([...findSubjectFaults(wanted, grantNames), ...idle])
  assertNone(await findForeignSubjects(trx, category.vault_id, wanted, grantNames))
  const rows = wanted.map((grant) => ({
    subject_type: grant.kind,
    subject_id: idOfSubject(grant),
    can_view: grant.rights.canView,
    can_assign: grant.rights.canAssign,
    can_edit: grant.rights.canEdit,
  }))
  await writeGrants(trx, category, rows, by)
  const before = category.grants.map(({ subject, can_view, can_assign, can_edit }) => ({
    subject,
    canView: can_view,
    canAssign: can_assign,
    canEdit: can_edit,
  }))
  const after = wanted.map(({ rights }, i) => ({ subject: subjectOf(rows[i]!), ...rights }))
  return finishChange(trx, category, by, 'grants_replaced', { before, after })
}

type GrantValues = {
  subject_type: SubjectKind
  subject_id: string
  can_view: boolean
  can_assign: boolean
  can_edit: boolean
}

const subjectOf = ({ subject_type: type, subject_id: id }: GrantValues) => `${type}:${id}`

async function writeGrants(trx: Trx, category: CategoryRow, rows: GrantValues[], by: ByMember): Promise<void> {
  const subjects = rows.map(subjectOf)
  await trx
    .deleteFrom('category_grants')
    .where('vault_id', '=', category.vault_id)
    .where('category_id', '=', category.id)
    .where(sql<boolean>`subject <> all(${subjects}::text[])`)
    .execute()
  if (rows.length > 0) {
    const ids = sortedIds(rows.length, by.now)
    await trx
      .insertInto('category_grants')
      .values(
        rows.map((row, i) => ({
          vault_id: category.vault_id,
          id: ids[i]!,
          category_id: category.id,
          ...row,
          grantor_id: by.member.userId,
          created_at: by.now,
        })),
      )
      .onConflict((same) =>
        same
          .constraint('category_grants_once')
          .doUpdateSet((value) => ({
            can_view: value.ref('excluded.can_view'),
            can_assign: value.ref('excluded.can_assign'),
            can_edit: value.ref('excluded.can_edit'),
            grantor_id: value.ref('excluded.grantor_id'),
          }))
          // A grant that did not change keeps the user who granted it.
          .where(
            sql<boolean>`(category_grants.can_view, category_grants.can_assign, category_grants.can_edit)
              is distinct from (excluded.can_view, excluded.can_assign, excluded.can_edit)`,
          ),
      )
      .execute()
  }
}

const defaultRights = { canView: true, canAssign: false, canEdit: false }
const grantNames = { list: 'grants', userId: 'subjectUserId', groupId: 'subjectGroupId' }

/**
 * Replaces the approvers; for administrators. An approver who remains keeps their row.
 * @throws 400 for an approver that is not in the vault or is repeated, 404, 409 while it is archived
 */
export async function replaceApprovers(
  trx: Trx,
  id: string,
  { approvers }: Static<typeof CategoryApprovers>,
  by: ByMember,
): Promise<CategoryRow> {
  const category = await lockLiveDefinition(trx, id, by)
  assertNone(findSubjectFaults(approvers, approverNames))
  assertNone(await findForeignSubjects(trx, category.vault_id, approvers, approverNames))
  const wanted = new Set(approvers.map((approver) => `${approver.kind}:${idOfSubject(approver)}`))
  const present = new Map(category.approvers.map((row) => [`${row.kind}:${row.user_id ?? row.group_id}`, row.id]))
  const gone = [...present].filter(([subject]) => !wanted.has(subject)).map(([, rowId]) => rowId)
  await trx
    .deleteFrom('category_approvers')
    .where('vault_id', '=', category.vault_id)
    .where(sql<boolean>`id = any(${gone}::text[])`)
    .execute()
  const added = approvers.filter((approver) => !present.has(`${approver.kind}:${idOfSubject(approver)}`))
  if (added.length > 0) {
    const ids = sortedIds(added.length, by.now)
    await trx
      .insertInto('category_approvers')
      .values(
        added.map(({ kind, userId, groupId }, i) => ({
          vault_id: category.vault_id,
          id: ids[i]!,
          category_id: id,
          kind,
          user_id: userId ?? null,
          group_id: groupId ?? null,
          created_at: by.now,
        })),
      )
      .execute()
  }
  return finishChange(trx, category, by, 'approvers_replaced', { before: [...present.keys()], after: [...wanted] })
}

const approverNames = { list: 'approvers', userId: 'userId', groupId: 'groupId' }

/** Returns sorted ids, so that rows that are added together keep the order of the request. */
function sortedIds(count: number, now: Date): string[] {
  return Array.from({ length: count }, () => newId(now)).sort()
}

/** One entry of a list of users and groups, as sent. */
type NamedSubject = { kind: SubjectKind; userId?: string | null; groupId?: string | null }
/** The wire names of the list and of its members. */
type Names = { list: string; userId: string; groupId: string }

/**
 * Returns the errors of entries that do not name exactly one subject, or that repeat a subject. When there are no
 * errors, `idOfSubject` returns the id of each entry.
 */
function findSubjectFaults(subjects: NamedSubject[], names: Names): FieldFault[] {
  const firstAt = new Map<string, number>()
  return subjects.flatMap((subject, i): FieldFault[] => {
    const [wanted, stray] =
      subject.kind === 'user' ? (['userId', 'groupId'] as const) : (['groupId', 'userId'] as const)
    const path = `${names.list}.${i}`
    const id = subject[wanted] ?? null
    if (id === null) return [{ field: `${path}.${names[wanted]}`, message: 'is required' }]
    if ((subject[stray] ?? null) !== null) {
      return [{ field: `${path}.${names[stray]}`, message: `does not belong to a ${subject.kind}` }]
    }
    const first = firstAt.get(`${subject.kind}:${id}`)
    if (first !== undefined) return [{ field: path, message: `is the same as ${names.list}.${first}` }]
    firstAt.set(`${subject.kind}:${id}`, i)
    return []
  })
}

/**
 * Returns the errors of users and groups that are not in the vault, and locks the groups against deletion until the
 * transaction ends.
 */
async function findForeignSubjects(
  trx: Trx,
  vaultId: string,
  subjects: NamedSubject[],
  names: Names,
): Promise<FieldFault[]> {
  const idsOf = (kind: SubjectKind) => subjects.filter((subject) => subject.kind === kind).map(idOfSubject)
  const members = await listMembersAmong(trx, vaultId, idsOf('user'))
  const groups = await lockExistingGroups(trx, vaultId, idsOf('group'))
  return subjects.flatMap((subject, i): FieldFault[] => {
    const id = idOfSubject(subject)
    const isUser = subject.kind === 'user'
    if ((isUser ? members : groups).has(id)) return []
    const field = `${names.list}.${i}.${isUser ? names.userId : names.groupId}`
    return [{ field, message: `is not a ${isUser ? 'member' : 'group'} of the vault` }]
  })
}

function idOfSubject({ kind, userId, groupId }: NamedSubject): string {
  return (kind === 'user' ? userId : groupId)!
}
