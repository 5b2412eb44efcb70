import { describe, expect, it } from 'vitest'
import { type AccessSnapshot, coversSnapshot, mergeSnapshots } from './access-snapshot.ts'

const member = (parts: Partial<AccessSnapshot> = {}): AccessSnapshot => ({
  seen_whole_vault: false,
  seen_group_ids: ['clerks'],
  seen_shared_ids: ['a', 'b'],
  seen_category_rights: ['view payroll'],
  ...parts,
})
const admin = member({ seen_whole_vault: true, seen_shared_ids: [], seen_category_rights: [] })
const nobody: AccessSnapshot = {
  seen_whole_vault: null,
  seen_group_ids: null,
  seen_shared_ids: null,
  seen_category_rights: null,
}

describe('the access to the content of a file', () => {
  it.each<[string, AccessSnapshot, AccessSnapshot, boolean]>([
    ['the same', member(), member(), true],
    ['more', member(), member({ seen_shared_ids: ['c', 'b', 'a'], seen_group_ids: ['clerks', 'board'] }), true],
    ['one address less', member(), member({ seen_shared_ids: ['a'] }), false],
    ['other addresses', member(), member({ seen_shared_ids: ['a', 'c'] }), false],
    ['one group less', member(), member({ seen_group_ids: [] }), false],
    ['one category less', member(), member({ seen_category_rights: [] }), false],
    ['administrator then and now', admin, { ...admin, seen_group_ids: [] }, true],
    ['administrator then, not now', admin, member(), false],
    ['administrator now, not then', member(), { ...admin, seen_group_ids: [] }, true],
    ['a file without a stored access', nobody, admin, false],
    ['no shared address then and now', member({ seen_shared_ids: [] }), member({ seen_shared_ids: [] }), true],
  ])('is compared with the present access of the requester: %s', (_, made, now, sees) => {
    expect(coversSnapshot(now, made)).toBe(sees)
  })

  it('includes rights that came or went while the report was read', () => {
    const either = mergeSnapshots(member({ seen_shared_ids: ['a'] }), member({ seen_shared_ids: ['a', 'b'] }))
    expect(either.seen_shared_ids).toEqual(['a', 'b'])
    expect(coversSnapshot(member({ seen_shared_ids: ['a'] }), either)).toBe(false)
    expect(coversSnapshot(member({ seen_shared_ids: ['b'] }), either)).toBe(false)
    expect(mergeSnapshots(member(), admin).seen_whole_vault).toBe(true)
  })
})
