import type { SubjectKind } from '../../../access/subjects.ts'
import type { Trx } from '../../../db/client.ts'
import type { FieldFault } from '../../../lib/errors.ts'
import { lockExistingGroups } from '../../rules/policies/group-queries.ts'
import { listMembersAmong } from '../../rules/policies/memberships.ts'

/** One entry of a list of users and groups, as sent. */
type NamedSubject = { kind: SubjectKind; userId?: string | null; groupId?: string | null }
/** The wire names of the list and of its members. */
type Names = { list: string; userId: string; groupId: string }

/** The errors of entries that do not name exactly one subject, or repeat one; without errors `idOfSubject` returns its id. */
export function findSubjectFaults(subjects: NamedSubject[], names: Names): FieldFault[] {
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

/** The errors of users and groups that are not in the vault; the groups cannot be deleted until the transaction ends. */
export async function findForeignSubjects(
  trx: Trx,
  vaultId: string,
  subjects: NamedSubject[],
  names: Names,
): Promise<FieldFault[]> {
  const idsOf = (kind: SubjectKind) => subjects.filter((one) => one.kind === kind).map(idOfSubject)
  const members = await listMembersAmong(trx, vaultId, idsOf('user'))
  const groups = await lockExistingGroups(trx, vaultId, idsOf('group'))
  return subjects.flatMap((subject, i): FieldFault[] => {
    const id = idOfSubject(subject)
    if (subject.kind === 'user') {
      const field = `${names.list}.${i}.${names.userId}`
      return members.has(id) ? [] : [{ field, message: 'is not a member of the vault' }]
    }
    const field = `${names.list}.${i}.${names.groupId}`
    return groups.has(id) ? [] : [{ field, message: 'is not a group of the vault' }]
  })
}

export function idOfSubject({ kind, userId, groupId }: NamedSubject): string {
  return (kind === 'user' ? userId : groupId)!
}
