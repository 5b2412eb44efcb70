import fc from 'fast-check'
import { expect, it } from 'vitest'
import { placesTaken, votesMissing } from './tally.ts'

const treasury = { groupId: 'treasury', threshold: 2 }
const compliance = { groupId: 'compliance', threshold: 1 }

it.each([
  ['nobody', [], 3, 0],
  ['three people in the right groups', [['treasury'], ['treasury'], ['compliance']], 0, 3],
  ['three people of one group', [['treasury'], ['treasury'], ['treasury']], 1, 2],
  ['a person in both groups counts once', [['treasury'], ['treasury', 'compliance']], 1, 2],
  [
    'a person in both groups takes the place that others cannot take',
    [['compliance', 'treasury'], ['treasury'], ['compliance']],
    0,
    3,
  ],
  ['two people in both groups', [['treasury', 'compliance'], ['treasury', 'compliance'], ['treasury']], 0, 3],
  ['an approver who is named counts for no group', [[''], ['treasury'], ['treasury']], 1, 2],
])('T34 two of treasury and one of compliance: %s', (_, votes, missing, taken) => {
  expect(placesTaken([treasury, compliance], votes)).toBe(taken)
  expect(votesMissing({ threshold: 3, groups: [treasury, compliance] }, votes.length, votes)).toBe(missing)
})

it('T34 votes are matched with groups as well as any assignment matches them', () => {
  const group = fc.constantFrom('a', 'b', 'c')
  const thresholds = fc.uniqueArray(fc.record({ groupId: group, threshold: fc.integer({ min: 1, max: 3 }) }), {
    selector: ({ groupId }) => groupId,
    maxLength: 3,
  })
  fc.assert(
    fc.property(thresholds, fc.array(fc.uniqueArray(group), { maxLength: 5 }), (groups, votes) => {
      expect(placesTaken(groups, votes)).toBe(bestOf(groups, votes))
    }),
    { numRuns: 2_000 },
  )
})

/** Tries every group for every vote. */
function bestOf(groups: { groupId: string; threshold: number }[], votes: string[][]): number {
  const [vote, ...rest] = votes
  if (vote === undefined) return 0
  const without = bestOf(groups, rest)
  const taken = vote.flatMap((of) => {
    const found = groups.find(({ groupId, threshold }) => groupId === of && threshold > 0)
    if (found === undefined) return []
    return [
      1 +
        bestOf(
          groups.map((group) => (group === found ? { ...group, threshold: group.threshold - 1 } : group)),
          rest,
        ),
    ]
  })
  return Math.max(without, ...taken)
}
