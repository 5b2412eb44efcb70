import type { OperationCategory, ReplaceCategoryApproversBody, ReplaceCategoryGrantsBody } from '@strongroom/sdk'

/** A person or a group: `user <id>` or `group <id>`. */
type Subject = string

export type Grant = { subject: Subject; canView: boolean; canAssign: boolean; canEdit: boolean }

export function subjectOf(kind: 'user' | 'group', userId: string | null, groupId: string | null): Subject {
  return `${kind} ${kind === 'user' ? userId : groupId}`
}

function partsOf(subject: Subject): [kind: 'user' | 'group', id: string] {
  const at = subject.indexOf(' ')
  return [subject.slice(0, at) as 'user' | 'group', subject.slice(at + 1)]
}

export function grantsOf({ grants }: Pick<OperationCategory, 'grants'>): Grant[] {
  return grants.map(({ subjectType, subjectUserId, subjectGroupId, canView, canAssign, canEdit }) => ({
    subject: subjectOf(subjectType, subjectUserId, subjectGroupId),
    ...{ canView, canAssign, canEdit },
  }))
}

/** Returns the body for the API. A subject without a right is left out, because an empty grant is refused. */
export function grantsBody(grants: readonly Grant[]): ReplaceCategoryGrantsBody['grants'] {
  return grants
    .filter(({ canView, canAssign, canEdit }) => canView || canAssign || canEdit)
    .map(({ subject, ...rights }) => {
      const [subjectType, id] = partsOf(subject)
      return { subjectType, ...(subjectType === 'user' ? { subjectUserId: id } : { subjectGroupId: id }), ...rights }
    })
}

export function approversBody(subjects: readonly Subject[]): ReplaceCategoryApproversBody['approvers'] {
  return subjects.map((subject) => {
    const [kind, id] = partsOf(subject)
    return kind === 'user' ? { kind, userId: id } : { kind, groupId: id }
  })
}
