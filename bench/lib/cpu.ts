import type { BenchRecord } from './record.ts'

/** Records the mean CPU time of `work` in ms, and returns it. The CPU time of `prepare` does not count. */
export function noteCpu<Prepared>(
  record: BenchRecord,
  name: string,
  { rounds, prepare, work }: { rounds: number; prepare: () => Prepared; work: (prepared: Prepared) => void },
): number {
  const measured: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const prepared = prepare()
    const before = process.cpuUsage()
    work(prepared)
    const { user, system } = process.cpuUsage(before)
    measured.push((user + system) / 1_000)
  }
  // The first rounds measure a service that has just started.
  const warm = measured.slice(rounds / 4).sort((a, b) => a - b)
  const at = (share: number) => warm[Math.floor(warm.length * share)]!
  const mean = record.add(
    `${name}: mean CPU`,
    'ms',
    warm.reduce((sum, milliseconds) => sum + milliseconds, 0) / warm.length,
  )
  record.add('  median', 'ms', at(0.5))
  record.add('  99th percentile', 'ms', at(0.99))
  record.add('  first round', 'ms', measured[0]!)
  return mean
}
