import { expect, it } from 'vitest'
import { type Line, linesOf } from './difference.ts'

it.each<[string, Record<string, unknown>, Line[]]>([
  ['nothing', {}, []],
  [
    'what is said',
    { ip: '::1', isNewDevice: true, none: null },
    [
      { path: 'ip', after: '::1' },
      { path: 'isNewDevice', after: 'true' },
    ],
  ],
  ['what was made', { after: { code: 'x', color: null } }, [{ path: 'code', after: 'x' }]],
  [
    'what changed',
    { before: { name: 'A', same: 1, rules: [{ a: 1 }] }, after: { name: 'B', same: 1, rules: [{ a: 2 }] } },
    [
      { path: 'name', before: 'A', after: 'B' },
      { path: 'rules.0.a', before: '1', after: '2' },
    ],
  ],
  ['what was taken away', { before: { a: 1, b: 2 }, after: { a: 1 } }, [{ path: 'b', before: '2', after: null }]],
  ['new values alone', { changes: { enabled: false } }, [{ path: 'enabled', after: 'false' }]],
  ['lists', { groupIds: ['a', 'b'], empty: [] }, [{ path: 'groupIds', after: 'a, b' }]],
])('of %s', (_what, details, lines) => expect(linesOf(details)).toEqual(lines))
