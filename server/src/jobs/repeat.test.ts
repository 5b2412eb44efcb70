import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { repeat } from './repeat.ts'

const deps = { log: pino({ level: 'silent' }) }
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

describe('a repeated task', () => {
  it('goes on after a run that failed, and ends when it is told to', async () => {
    let runs = 0
    const stop = repeat(deps, 'test', 1, async () => {
      runs += 1
      if (runs === 1) throw new Error('not this time')
    })
    await expect.poll(() => runs).toBeGreaterThan(2)
    await stop()
    const before = runs
    await pause(20)
    expect(runs).toBe(before)
  })

  it('never runs beside itself, and its end waits for the run under way', async () => {
    let runs = 0
    let running = 0
    let most = 0
    const stop = repeat(deps, 'test', 1, async () => {
      runs += 1
      running += 1
      most = Math.max(most, running)
      await pause(20)
      running -= 1
    })
    await expect.poll(() => runs).toBeGreaterThan(1)
    await stop()
    expect([running, most]).toEqual([0, 1])
  })
})
