/** Numbers that a seed determines, so that a run can be repeated. The plan is the same, but not the timing. */
export type Random = {
  /** Returns a whole number from 0 to `below` - 1. */
  below(below: number): number
  /** Returns a shuffled copy. */
  shuffle<Item>(items: Item[]): Item[]
}

/** Creates the generator Mulberry32. Its 32 bits of state suffice to choose test cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    shuffle(items) {
      const shuffled = [...items]
      for (let i = shuffled.length - 1; i > 0; i -= 1) {
        const j = below(i + 1)
        ;[shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!]
      }
      return shuffled
    },
  }
}
