import { describe, expect, it } from 'vitest'
import { differenceSettlesMinutes } from '../../../lib/limits.ts'
import { judge, type Seen } from './judge.ts'

const start = Date.UTC(2026, 0, 1)

/** Returns the announced differences when these are seen one after the other, `minutes` apart. */
function announced(differences: number[], minutes = differenceSettlesMinutes): (number | null)[] {
  let seen: Seen | null = null
  return differences.map((difference, i) => {
    const { keep, announce }: ReturnType<typeof judge> = judge(
      seen,
      BigInt(difference),
      new Date(start + i * minutes * 60_000),
    )
    seen = keep
    return announce === null ? null : Number(announce)
  })
}

describe('T76 a difference', () => {
  it.each<[string, number[], (number | null)[]]>([
    ['is announced when it is seen again, and once', [-5, -5, -5, -5], [null, -5, null, null]],
    ['that passes is not announced', [7, 0, 7, 0], [null, null, null, null]],
    ['that changes its side is another one', [5, -5, -5], [null, null, -5]],
    ['that grows is announced again, as far as it is certain', [-5, -5, -9, -9, -9], [null, -5, null, -9, null]],
    ['that grows with every comparison is not hidden', [-1, -2, -3, -4], [null, -1, -2, -3]],
    ['that shrinks is not news, and news when it grows again', [-9, -9, -4, -9, -9], [null, -9, null, null, -9]],
    ['that is larger in one comparison only is announced without that increase', [5, 8, 5, 5], [null, 5, null, null]],
    ['that is gone and comes back is new', [-5, -5, 0, -5, -5], [null, -5, null, null, -5]],
  ])('T76 %s', (_what, differences, expected) => {
    expect(announced(differences)).toEqual(expected)
  })

  it('T76 is not certain after two simultaneous comparisons of a page', () => {
    expect(announced([-5, -5, -5], 1)).toEqual([null, null, null])
  })
})
