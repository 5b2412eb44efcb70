import { describe, expect, it } from 'vitest'
import { approversBody, grantsBody, subjectOf } from './subjects.ts'

const none = { canView: false, canAssign: false, canEdit: false }

describe('people and groups of a category', () => {
  it('are told apart by their kind', () => {
    const subjects = [subjectOf('user', 'u 1', null), subjectOf('group', null, 'g1')]
    expect(approversBody(subjects)).toEqual([
      { kind: 'user', userId: 'u 1' },
      { kind: 'group', groupId: 'g1' },
    ])
    expect(grantsBody(subjects.map((subject) => ({ ...none, subject, canEdit: true })))).toEqual([
      { subjectType: 'user', subjectUserId: 'u 1', ...none, canEdit: true },
      { subjectType: 'group', subjectGroupId: 'g1', ...none, canEdit: true },
    ])
  })

  it('leave the list when they have no right', () => {
    expect(grantsBody([{ ...none, subject: 'user u1' }])).toEqual([])
  })
})
