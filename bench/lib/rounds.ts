/** Rounds of several sides, each measured there and back (A B B A), so that what drifts weighs on all alike. */
export async function measureRounds(
  rounds: number,
  sides: Record<string, () => Promise<number>>,
): Promise<Record<string, Series>> {
  const names = Object.keys(sides)
  const values: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const name of [...names, ...[...names].reverse()]) values[name]!.push(await sides[name]!())
  }
  return Object.fromEntries(names.map((name) => [name, toSeries(values[name]!)]))
}

export type Series = { median: number; min: number; max: number; values: number[] }

export function toSeries(values: number[]): Series {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2
  return { median: sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2 || median, min: sorted[0]!, max: sorted.at(-1)!, values }
}
