import { describe, expect, it } from 'vitest'
import { type Change, dependentsOf, groupsOf, withChange, withoutChange } from './draft.ts'

const group = (name: string): Change => ({ action: 'policy_group_create', payload: { code: name, name } })
const pay = (targetId: string, approver: string): Change => ({
  action: 'policy_create',
  targetId,
  payload: { code: 'pay', approvers: [{ kind: 'group', groupId: approver }] },
})

describe('a draft', () => {
  it('takes a change at its end, or in place of another one', () => {
    expect(withChange([group('a')], group('b'))).toEqual([group('a'), group('b')])
    expect(withChange([group('a'), group('b')], group('c'), 0)).toEqual([group('c'), group('b')])
  })

  it('knows which changes need an object that another change creates', () => {
    const changes = [group('a'), group('b'), pay('$change:1', '$change:0'), pay('$change:1', 'x')]
    expect(dependentsOf(changes, 0)).toEqual([2])
    expect(dependentsOf(changes, 1)).toEqual([2, 3])
    expect(dependentsOf(changes, 3)).toEqual([])
  })

  it('keeps the meaning of its changes when a change is removed', () => {
    const changes = [group('a'), group('b'), group('c'), pay('$change:2', '$change:0')]
    expect(withoutChange(changes, 1)).toEqual([group('a'), group('c'), pay('$change:1', '$change:0')])
  })

  it('names the groups that it creates before a place', () => {
    const changes = [group('a'), pay('x', 'y'), group('b')]
    expect(groupsOf(changes)).toEqual([
      { id: '$change:0', name: 'a' },
      { id: '$change:2', name: 'b' },
    ])
    expect(groupsOf(changes, 1)).toEqual([{ id: '$change:0', name: 'a' }])
  })
})
