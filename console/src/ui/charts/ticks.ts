const ticksWanted = 4

/** Returns round values that enclose a range, from low to high, at equal distances. */
export function ticksOf(low: number, high: number): number[] {
  const [from, to] = low === high ? [low - (Math.abs(low) / 10 || 1), high + (Math.abs(high) / 10 || 1)] : [low, high]
  const rough = (to - from) / ticksWanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find((factor) => rough <= factor * power) ?? 10) * power
  const first = Math.floor(from / step)
  const count = Math.ceil(to / step) - first + 1
  return Array.from({ length: count }, (_, index) => (first + index) * step)
}

/** Returns every how many labels are drawn, so that they stand apart. */
export function labelStep(count: number, width: number, labelWidth: number): number {
  return Math.max(1, Math.ceil((count * labelWidth) / Math.max(width, 1)))
}
