import { pino } from 'pino'
import { expect, it } from 'vitest'
import { type Claims, runClaims } from './run-claims.ts'

type Letter = { name: string; attempts: number }

const now = new Date('2026-01-01T00:00:00Z')
const deps = { log: pino({ level: 'silent' }), clock: () => now }

/** A queue in memory. `onRun` is called with the name of each letter. */
function queueOf(count: number, onRun: (name: string) => void) {
  const waiting = Array.from({ length: count }, (_, index) => ({ name: `letter ${index}`, attempts: 1 }))
  const limits: number[] = []
  const retried: [string, Date][] = []
  const claims: Claims<Letter, typeof deps> = {
    name: 'letter',
    claim: async (_deps, limit) => {
      limits.push(limit)
      return waiting.splice(0, limit)
    },
    run: async (_deps, { name }) => onRun(name),
    retry: async (_deps, { name }, at) => void retried.push([name, at]),
    backoff: { firstMilliseconds: 1_000, longestMilliseconds: 60_000 },
  }
  return { claims, limits, retried, waiting }
}

it('a run claims its rows together and ends after twenty rows', async () => {
  const done: string[] = []
  const queue = queueOf(25, (name) => done.push(name))
  expect(await runClaims(deps, queue.claims)).toBe(false)
  expect([done.length, queue.limits]).toEqual([20, [20]])
  expect(await runClaims(deps, queue.claims)).toBe(true)
  expect([done.length, queue.limits]).toEqual([25, [20, 20, 15]])
})

it('a failure is tried again after a pause, and the rows behind it are done', async () => {
  const done: string[] = []
  const queue = queueOf(3, (name) => {
    if (name === 'letter 1') throw new Error('refused')
    done.push(name)
  })
  expect(await runClaims(deps, queue.claims)).toBe(true)
  expect(done).toEqual(['letter 0', 'letter 2'])
  expect(queue.retried).toEqual([['letter 1', new Date(now.getTime() + 1_000)]])
})

it('rows that a run leaves undone when the node stops are due again at once', async () => {
  const stopping = new AbortController()
  const done: string[] = []
  const queue = queueOf(3, (name) => {
    done.push(name)
    stopping.abort()
  })
  expect(await runClaims(deps, queue.claims, stopping.signal)).toBe(false)
  expect(done).toEqual(['letter 0'])
  expect(queue.retried).toEqual([
    ['letter 1', now],
    ['letter 2', now],
  ])
})
