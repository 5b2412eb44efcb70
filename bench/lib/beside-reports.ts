import { setTimeout } from 'node:timers/promises'
import { loadClosed } from './http-load.ts'

export const reportsAtOnce = 150

/** Runs `work` while 150 connections request one report after another. Also returns how the reports were answered. */
export async function besideReports<Result>(
  { port, report }: { port: number; report: Buffer },
  work: () => Promise<Result>,
): Promise<{ result: Result; answers: Record<number, number> }> {
  let isOver = false
  const reports = loadClosed({ port, connections: reportsAtOnce, seconds: 600, next: () => (isOver ? null : report) })
  // Every connection has sent its first request by then.
  await setTimeout(1_000)
  const result = await work().finally(() => {
    isOver = true
  })
  const { answers } = await reports
  if (!(answers[200]! > 0)) throw new Error(`No report was made: ${JSON.stringify(answers)}`)
  return { result, answers }
}
