import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Db } from './client.ts'
import { createSlowReads } from './slow-reads.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Reads that begin in turn and end when the test ends them. */
function createWorld(limits: Partial<Parameters<typeof createSlowReads>[0]> = {}) {
  const reads = createSlowReads({
    db: {} as Db,
    runningMax: 2,
    runningPerCallerMax: 1,
    waitingMax: 100,
    waitingPerCallerMax: 50,
    waitMilliseconds: 1_000,
    ...limits,
  })
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const ask = (name: string) =>
    reads
      .inTurn(name[0]!, () => {
        begun.push(name)
        return new Promise<string>((resolve, reject) => {
          ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)))
        })
      })
      .catch((error: { status?: number }) => error.status ?? 'failed')
  const settled = () => vi.advanceTimersByTimeAsync(0)
  return {
    begun,
    ask,
    settled,
    async end(name: string, error?: Error) {
      ends.get(name)!(error)
      await settled()
    },
  }
}

describe('T69 slow reads in turns', () => {
  it('go round between callers: a hundred reads of one caller delay another caller by one read', async () => {
    const { ask, begun, end, settled } = createWorld({ runningMax: 1 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void ask(name)
    await settled()
    const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']
    for (const [i, name] of order.entries()) {
      expect(begun).toEqual(order.slice(0, i + 1))
      await end(name)
    }
  })

  it('leave a place for others while one caller waits', async () => {
    const { ask, begun, end, settled } = createWorld()
    void ask('a1')
    void ask('a2')
    void ask('b1')
    await settled()
    expect(begun).toEqual(['a1', 'b1'])
    void ask('c1')
    await end('b1')
    expect(begun).toEqual(['a1', 'b1', 'c1'])
    await end('a1')
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  it('give their place back when they fail', async () => {
    const { ask, begun, end, settled } = createWorld({ runningMax: 1 })
    const first = ask('a1')
    void ask('b1')
    await settled()
    await end('a1', new Error('broken'))
    expect(await first).toBe('failed')
    expect(begun).toEqual(['a1', 'b1'])
  })

  it('are refused: 429 when a caller has too many waiting, 503 when all callers have', async () => {
    const { ask, settled } = createWorld({ waitingPerCallerMax: 2, waitingMax: 3 })
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void ask(name)
    await settled()
    expect(await ask('a4')).toBe(429)
    expect(await ask('c1')).toBe(503)
  })

  it('are refused with 503 when the turn does not come in time, and then no turn is lost', async () => {
    const { ask, begun, end, settled } = createWorld()
    const first = ask('a1')
    const late = ask('a2')
    await settled()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await late).toBe(503)
    void ask('a3')
    await settled()
    await end('a1')
    expect(await first).toBe('a1')
    expect(begun).toEqual(['a1', 'a3'])
  })
})
