import { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { idleTaskMilliseconds } from '../lib/limits.ts'
import { runTasks, type Task } from './tasks.ts'

/** Starts a task. Returns the lines of its log, and functions that stop it and that wake it as a commit does. */
function start(task: Partial<Task> & Pick<Task, 'run'>, isHeard = false, look?: Parameters<typeof runTasks>[2]) {
  let wake = () => {}
  const changeSignal = {
    watch: () => () => {},
    onWake: (_task: string, run: () => void) => {
      wake = run
      return () => {}
    },
    isHeard: () => isHeard,
    close: async () => {},
  }
  const lines: { msg: string }[] = []
  const write = (line: Buffer, _: string, done: () => void) => {
    lines.push(JSON.parse(line.toString()))
    done()
  }
  const runner = { log: pino(new Writable({ write })), changeSignal }
  const stop = runTasks(runner, [{ name: 'test', everyMilliseconds: 1, ...task }], look)
  return { lines, stop, wake: () => wake() }
}

describe('a background task', () => {
  it('continues after failed runs, logs repeated failures once, and ends when it is stopped', async () => {
    let runs = 0
    const { lines, stop } = start({
      run: async () => {
        runs += 1
        if (runs <= 3) throw new Error('not this time')
      },
    })
    await expect.poll(() => runs).toBeGreaterThan(5)
    await stop()
    const before = runs
    await pause(20)
    expect(runs).toBe(before)
    expect(lines.map(({ msg }) => msg)).toEqual(['a background task failed', 'a background task works again'])
  })

  it('never has two runs at once; a stop waits for the current run and the work that it started', async () => {
    let runs = 0
    let running = 0
    let most = 0
    let isFinished = false
    const { stop } = start({
      run: async () => {
        runs += 1
        running += 1
        most = Math.max(most, running)
        await pause(20)
        running -= 1
      },
      finish: async () => {
        await pause(20)
        isFinished = true
      },
    })
    await expect.poll(() => runs).toBeGreaterThan(1)
    await stop()
    expect([running, most, isFinished]).toEqual([0, 1, true])
  })

  it('gets a signal when it is stopped', async () => {
    const { stop } = start({
      run: (signal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    })
    await stop()
  })

  it('is woken by commits on a node that hears of commits, and does not run periodically', async () => {
    let runs = 0
    const run = async () => {
      runs += 1
    }
    const { stop, wake } = start({ run }, true)
    await expect.poll(() => runs).toBe(1)
    await pause(100)
    expect(runs).toBe(1)
    wake()
    await expect.poll(() => runs).toBe(2)
    await pause(100)
    expect(runs).toBe(2)
    await stop()
  })

  it('runs again after a run in which it was woken, and once after several wake-ups during its rest', async () => {
    let runs = 0
    const run = async () => {
      runs += 1
      await pause(30)
    }
    const { stop, wake } = start({ run, everyMilliseconds: 300, restMilliseconds: 300 }, true)
    for (let woken = 0; woken < 5; woken += 1) wake()
    await expect.poll(() => runs).toBe(2)
    for (let woken = 0; woken < 5; woken += 1) wake()
    await expect.poll(() => runs).toBe(3)
    await pause(500)
    expect(runs).toBe(3)
    await stop()
  })

  it('is woken by the common check when it has work, or when its work is unknown', async () => {
    vi.useFakeTimers()
    let runs = 0
    const run = async () => {
      runs += 1
    }
    let list = async (): Promise<string[]> => []
    const { stop } = start({ run }, true, { names: new Set(['test']), list: () => list() })
    await vi.advanceTimersByTimeAsync(20 * idleTaskMilliseconds)
    expect(runs).toBe(1)
    list = async () => ['test']
    await vi.advanceTimersByTimeAsync(idleTaskMilliseconds + 100)
    expect(runs).toBe(2)
    list = async () => {
      throw new Error('the database is away')
    }
    await vi.advanceTimersByTimeAsync(idleTaskMilliseconds + 100)
    expect(runs).toBe(3)
    vi.useRealTimers()
    await stop()
  })

  it('runs again when its run requested that', async () => {
    let runs = 0
    const run: Task['run'] = async (_signal, again) => {
      runs += 1
      if (runs < 3) again(1)
    }
    const { stop } = start({ run }, true)
    await expect.poll(() => runs).toBe(3)
    await stop()
  })
})
