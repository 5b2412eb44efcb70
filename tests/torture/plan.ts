import { createRandom } from '../../server/src/testing/random.ts'
import type { Breakable } from './breakpoints.ts'

type Named = Breakable<string, unknown>

/**
 * Every point with every victim, and a random moment (null) for every two of them, alternating between parts and victims. Victims
 * take turns in the order of the list, in which some may stand more often than others.
 */
export function planAll<Point extends Named, Victim extends string>({
  cycles,
  seed,
  points,
  victims,
}: {
  cycles: number
  seed: number
  points: Point[]
  victims: readonly Victim[]
}): { victim: Victim; point: Point | null }[] {
  type Blow = { victim: Victim; point: Point | null }
  const random = createRandom(seed)
  const kinds = [...new Set(victims)]
  const decks = new Map<string, Blow[]>([['random', []]])
  for (const point of points) {
    const deck = decks.get(point.part) ?? []
    deck.push(...kinds.map((victim) => ({ victim, point })))
    decks.set(point.part, deck)
  }
  for (let i = 0; i < (points.length * kinds.length) / 2; i += 1) {
    decks.get('random')!.push({ victim: kinds[i % kinds.length]!, point: null })
  }
  const shuffled = [...decks.values()].map((deck) => random.shuffle(deck))
  const whole: Blow[] = []
  while (shuffled.some((deck) => deck.length > 0)) {
    for (const deck of shuffled) {
      const turn = victims[whole.length % victims.length]
      const next = deck.findIndex(({ victim }) => victim === turn)
      whole.push(...deck.splice(Math.max(next, 0), 1))
    }
  }
  return Array.from({ length: cycles }, (_, i) => whole[i % whole.length]!)
}

export function nameOf(point: Named | null): string {
  return point === null ? 'a random moment' : `${point.part}: ${point.name}`
}
