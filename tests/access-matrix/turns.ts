/** Every caller asks in every way in `npm run nightly:access`; in the suite some of them take turns. */
export const isWhole = process.env.ACCESS === 'all'

/**
 * Returns so many of the values, the next ones at the next turn: after a round each value has had its turn. In the whole form
 * all values have their turn each time.
 */
export function inTurn<Value>(values: readonly Value[], turn: number, count: number, whole = isWhole): Value[] {
  if (whole || count >= values.length) return [...values]
  return Array.from({ length: count }, (_, index) => values[(turn * count + index) % values.length]!)
}
