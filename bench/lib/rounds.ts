/** Median and range of the measurements; `values` in the order of measuring. */
export type Series = { median: number; min: number; max: number; values: number[] }

/** Measures several sides forwards and backwards (A B B A) in each round, so that drift affects all sides equally. */
export async function measureRounds<Side extends string>(
  rounds: number,
  sides: Record<Side, () => Promise<number>>,
): Promise<Record<Side, Series>> {
  const names = Object.keys(sides) as Side[]
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Side, number[]>
  for (let round = 0; round < rounds; round += 1) {
    for (const name of [...names, ...names.toReversed()]) values[name].push(await sides[name]())
  }
  return Object.fromEntries(names.map((name) => [name, toSeries(values[name])])) as Record<Side, Series>
}

export function toSeries(values: number[]): Series {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
  return { median, min: sorted[0]!, max: sorted.at(-1)!, values }
}
